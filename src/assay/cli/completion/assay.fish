# Completion of assay for fish: assay completes its own command lines.
function __assay_complete
    set -l words (commandline -opc) (commandline -ct)
    test (count $words) -eq (count (commandline -opc)); and set -a words ''
    set -l lines ($words[1] complete $words 2>/dev/null)
    printf '%s\n' $lines[2..]
    test "$lines[1]" = files; and __fish_complete_path (commandline -ct)
end
complete -c assay -f -a '(__assay_complete)'
