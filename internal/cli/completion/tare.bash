# bash completion for tare (tare completion bash)
_tare() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
        :nospace) compopt -o nospace ;;
        :files) compopt -o filenames; while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$2") ;;
        :dirs) compopt -o filenames; while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$2") ;;
        *)
            line=${line%%$'\t'*}
            [[ $line == *[[:space:]\'\"\\\$\`\;\&\|\<\>\(\)\*\?]* ]] && printf -v line %q "$line"
            COMPREPLY+=("$line")
            ;;
        esac
    done < <("${1/#\~/$HOME}" __complete bash "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null </dev/null)
}
complete -F _tare tare
