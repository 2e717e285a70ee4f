import type { JsonObject } from '../../../../src/index.ts'
import { resolvePath, WorkspaceError } from '../../../../src/tools.ts'
import { isEditing } from '../changes/proposed-change.ts'

/** Calls that a person has allowed for good: all of a tool, or those whose command or path `is` this one, or `begins` like it. */
export interface Rule {
  tool: string
  is?: string
  begins?: string
}

/** A call, as somebody is asked about it. */
export interface AskedAbout {
  toolName: string
  args: JsonObject
}

/** What a rule may look at: the command of `bash`, the path of a tool that changes files; of other tools only the name. */
type Subject = { kind: 'command' | 'path'; text: string } | { kind: 'tool' }

/** In a command of such characters nothing is run but its first word: no second command, no substitution, no redirection, no quotes to get wrong. */
const plainCommand = /^[\w@%+=:,./ -]+$/

/** `undefined` for what no rule can be about: a path that leads out, a command with more than a command. */
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

/** The rule that a person means: with `written` its pattern, in which `*` may stand at the end, else the narrowest. `undefined` where it would not allow this call. */
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

/** Whether a rule is about a call. */
export function allows({ tool, is, begins }: Rule, call: AskedAbout): boolean {
  const subject = tool === call.toolName ? subjectOf(call) : undefined
  if (subject === undefined) return false
  if (subject.kind === 'tool') return is === undefined && begins === undefined
  if (begins === undefined) return is === subject.text
  if (subject.kind === 'path') return (begins === '' || begins.endsWith('/')) && subject.text.startsWith(begins)
  // `npm *` is about `npm` and its arguments, not about `npm-evil`.
  const isWhole = begins === '' || begins.endsWith(' ')
  return isWhole && plainCommand.test(subject.text) && `${subject.text} `.startsWith(begins)
}

/** A rule in words. */
export function wordsOf({ tool, is, begins }: Rule): string {
  return [tool, is ?? (begins === undefined ? '(every call)' : `${begins}*`)].join(' ')
}
