#compdef tare
# zsh completion for tare (tare completion zsh)
_tare() {
    local line value names
    local -a entries end
    for line in "${(@f)$("${(Q)words[1]/#\~/$HOME}" __complete zsh "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null </dev/null)}"; do
        case $line in
        '') ;;
        :nospace) end=(-S '') ;;
        :files | :dirs) names=$line ;;
        *)
            value=${line%%$'\t'*}
            entries+=("${value//:/\\:}:${line#*$'\t'}")
            ;;
        esac
    done
    (( $#entries )) && _describe tare entries "${end[@]}"
    [[ -n $names ]] && compset -P '*='
    case $names in
    :files) _files ;;
    :dirs) _files -/ ;;
    esac
}
if [[ $funcstack[1] == _tare ]]; then _tare "$@"; else compdef _tare tare; fi
