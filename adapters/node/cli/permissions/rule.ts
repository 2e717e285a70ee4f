import type { JsonObject } from '../../../../src/index.ts'
import { resolvePath, WorkspaceError } from '../../../../src/tools.ts'
import { isEditing } from '../changes/proposed-change.ts'

/** Permanently allowed calls: all calls of a tool, or calls whose command or path equals `is` or starts with `begins`. */
export interface Rule {
  tool: string
  is?: string
  begins?: string
}

/** A call that needs an approval. */
export interface AskedAbout {
  toolName: string
  args: JsonObject
}

/**
 * Returns the value that a rule compares: the `bash` command, or the path for tools that change files. Other tools are compared by name
 * only.
 */
type Subject = { kind: 'command' | 'path'; text: string } | { kind: 'tool' }

/** Matches commands that run only their first word: no second command, substitution, redirection or quotes. */
const plainCommand = /^[\w@%+=:,./ -]+$/

/** `undefined` if no rule can match, for example a path outside the folder or a compound command. */
function subjectOf({ toolName, args }: AskedAbout): Subject | undefined {
  if (isEditing(toolName)) return typeof args.path === 'string' ? pathSubject(args.path) : undefined
  if (toolName !== 'bash') return { kind: 'tool' }
  const { command, ...others } = args
  return typeof command === 'string' && Object.keys(others).length === 0 ? { kind: 'command', text: command.trim() } : undefined
}

function pathSubject(path: string): Subject | undefined {
  try {
    return { kind: 'path', text: resolvePath(path) }
  } catch (error) {
    if (WorkspaceError.isInstance(error)) return undefined
    throw error
  }
}

/**
 * Parses the user's rule from the pattern `written`, which may end in `*`. Without a pattern, returns the narrowest rule. Returns
 * `undefined` if the rule would not allow this call.
 */
export function ruleFor(call: AskedAbout, written?: string): Rule | undefined {
  const subject = subjectOf(call)
  if (subject === undefined || (subject.kind === 'tool' && written !== undefined)) return undefined
  const rule = subject.kind === 'tool' ? { tool: call.toolName } : { tool: call.toolName, ...patternOf(written, subject.text) }
  return allows(rule, call) ? rule : undefined
}

function patternOf(written: string | undefined, text: string): Omit<Rule, 'tool'> {
  if (written === undefined) return { is: text }
  return written.endsWith('*') ? { begins: written.slice(0, -1) } : { is: written }
}

/** Returns whether a rule matches a call. */
export function allows({ tool, is, begins }: Rule, call: AskedAbout): boolean {
  const subject = tool === call.toolName ? subjectOf(call) : undefined
  if (subject === undefined) return false
  if (subject.kind === 'tool') return is === undefined && begins === undefined
  if (begins === undefined) return is === subject.text
  if (subject.kind === 'path') return (begins === '' || begins.endsWith('/')) && subject.text.startsWith(begins)
  // `npm *` matches `npm` with any arguments, but not `npm-evil`.
  const isWhole = begins === '' || begins.endsWith(' ')
  return isWhole && plainCommand.test(subject.text) && `${subject.text} `.startsWith(begins)
}

/** Describes a rule. */
export function wordsOf({ tool, is, begins }: Rule): string {
  return [tool, is ?? (begins === undefined ? '(every call)' : `${begins}*`)].join(' ')
}
