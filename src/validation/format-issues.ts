import type { SchemaIssue } from '../types/standard-schema.ts'

/**
 * Issues as text for a model: one line each, `path: message`, for example `files[0].name: expected string, got number`.
 * An issue about the whole value has the path `whole`.
 */
export function formatIssues(issues: readonly SchemaIssue[], whole = 'arguments'): string {
  return issues.map((issue) => `${formatPath(issue.path ?? []) || whole}: ${issue.message.replace(/[\r\n]+/g, ' ')}`).join('\n')
}

function formatPath(path: readonly (PropertyKey | { key: PropertyKey })[]): string {
  let text = ''
  for (const step of path) {
    const key = typeof step === 'object' ? step.key : step
    if (typeof key === 'number') text += `[${key}]`
    else if (typeof key === 'string' && /^[\w$-]+$/.test(key)) text += text === '' ? key : `.${key}`
    else text += `[${JSON.stringify(String(key))}]`
  }
  return text
}
