const types = ['feat', 'fix', 'perf', 'refactor', 'test', 'docs', 'build', 'ci', 'chore', 'revert']
const maxLength = 72

/** Returns why a commit subject is refused, with what to write in its place; `undefined` if it follows `type(scope): what it does`. */
export function subjectFault(subject: string): string | undefined {
  if (/^(?:fixup|squash)! /.test(subject)) return `"${subject}": squash it into the commit that it amends.`
  const form = new RegExp(`^(?:${types.join('|')})(?:\\([a-z0-9,/-]+\\))?!?: \\S`)
  if (!form.test(subject)) return `"${subject}": write it as type(scope): what it does. Types: ${types.join(', ')}.`
  if (subject.length > maxLength)
    return `"${subject}": it has ${subject.length} characters; ${maxLength} is the most. Move details to the body.`
  return /\.$/.test(subject) ? `"${subject}": remove the full stop at its end.` : undefined
}
