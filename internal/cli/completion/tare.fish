# fish completion for tare (tare completion fish)
function __tare_complete
    set -l words (commandline -opc)
    set -l raw (commandline -ct)
    set -l word (string unescape -- "$raw"; or echo "$raw")
    set -l program $words[1]
    set -e words[1]
    set -l head (string match -r '^.*=' -- $raw)
    set -l rest (string replace -r '^.*=' '' -- $raw)
    for line in ($program __complete fish $words "$word" 2>/dev/null </dev/null)
        switch $line
            case :nospace
            case :files
                for path in (__fish_complete_path "$rest")
                    printf '%s\n' "$head$path"
                end
            case :dirs
                for path in (__fish_complete_directories "$rest" '')
                    printf '%s\n' "$head$path"
                end
            case '*'
                printf '%s\n' $line
        end
    end
end
complete -c tare -f -a '(__tare_complete)'
