# Completion of assay for bash: assay completes its own command lines.
_assay() {
  # Bash splits words at ':' and '=', assay does not.
  local line=${COMP_LINE:0:COMP_POINT} word lines kind
  local -a words
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  local typed=${words[-1]}
  mapfile -t lines < <("${words[0]}" complete "${words[@]}" 2>/dev/null)
  kind=${lines[0]}
  COMPREPLY=()
  # What bash holds for finished, the part before its own word, it puts there itself.
  local behind=${typed##*[:=]}
  local before=${typed%"$behind"}
  for word in "${lines[@]:1}"; do
    word=${word%%$'\t'*}
    COMPREPLY+=("${word#"$before"}")
  done
  if [[ $kind == files ]]; then
    local file
    while IFS= read -r file; do
      COMPREPLY+=("$file")
    done < <(compgen -f -- "$behind")
    compopt -o filenames 2>/dev/null
  fi
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[:=] ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -F _assay assay
