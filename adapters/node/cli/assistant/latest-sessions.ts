import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { ConfigError, type SessionStore } from '../../../../src/index.ts'
import type { SessionSummary } from '../../../../src/session.ts'
import { escapeInvisible } from '../../../../src/store.ts'
import { replaceKept } from './kept-files.ts'
import type { Project } from './project.ts'

/** Maximum one-shot sessions to remember. Older ones count as conversations. */
const mostOneShots = 1000

/**
 * Remembers sessions of one-shot prompts, which lists show separately: one line per session in a file. An unreadable file counts as empty.
 */
export class OneShots {
  readonly #file: string

  constructor(file: string) {
    this.#file = file
  }

  has(sessionId: string): boolean {
    return this.#read().includes(sessionId)
  }

  add(sessionId: string): void {
    this.#write([...this.#read(), sessionId])
  }

  /** Removes a session that became a conversation. */
  remove(sessionId: string): void {
    const ids = this.#read()
    if (ids.includes(sessionId)) this.#write(ids.filter((id) => id !== sessionId))
  }

  #read(): string[] {
    try {
      return readFileSync(this.#file, 'utf8')
        .split('\n')
        .filter((id) => id !== '')
    } catch {
      return []
    }
  }

  #write(ids: readonly string[]): void {
    try {
      replaceKept(
        this.#file,
        ids
          .slice(-mostOneShots)
          .map((id) => `${id}\n`)
          .join(''),
      )
    } catch {
      // Ignore: the list stays unchanged.
    }
  }
}

/** Maximum sessions to read, and to list per kind. */
const most = { looked: 60, listed: 10 }

/** A listed session of this directory. */
export interface ListedSession {
  summary: SessionSummary
  /** Whether it is a one-shot prompt (`-p` or a pipe). */
  isOneShot: boolean
}

/** Lists the latest conversations, then the latest one-shot prompts, newest first. */
export async function latestSessions(store: SessionStore, project: Project | undefined): Promise<ListedSession[]> {
  const { sessions } = await store.list({ limit: most.looked })
  const oneShots = project === undefined ? undefined : new OneShots(project.oneShots)
  const found = sessions.map((summary) => ({ summary, isOneShot: oneShots?.has(summary.sessionId) === true }))
  const [talks, questions] = [false, true].map((isOneShot) => found.filter((each) => each.isOneShot === isOneShot).slice(0, most.listed))
  return [...(talks ?? []), ...(questions ?? [])]
}

/** Formats sessions as a numbered list. */
export function sessionLines(sessions: readonly ListedSession[]): string[] {
  return sessions.flatMap(({ summary, isOneShot }, at) => [
    ...(isOneShot && sessions[at - 1]?.isOneShot !== true ? ['one-shot prompts:'] : []),
    `${String(at + 1).padStart(2)}  ${described(summary)}`,
  ])
}

function described({ sessionId, title, messages, lastActiveAt, error }: SessionSummary): string {
  const when = new Date(lastActiveAt).toISOString().slice(0, 16).replace('T', ' ')
  return error === undefined
    ? `${when}  ${messages} messages  ${title ?? ''}  ${sessionId}`
    : `${sessionId} cannot be read: ${error.message}`
}

/** Prompts the user to choose a session. Enter selects the first. Throws `ConfigError` for an invalid choice. */
export async function chooseSession(sessions: readonly ListedSession[]): Promise<ListedSession> {
  const { stdin, stderr } = process
  for (const line of sessionLines(sessions)) stderr.write(`${escapeInvisible(line)}\n`)
  const terminal = createInterface({ input: stdin, output: stderr, terminal: false })
  const left = new AbortController()
  terminal.on('close', () => left.abort())
  try {
    const answer = (await terminal.question('Which session? [1] ', { signal: left.signal })).trim()
    const found = sessions[answer === '' ? 0 : Number(answer) - 1]
    if (found === undefined) throw new ConfigError('invalidOption', `Session ${JSON.stringify(answer.slice(0, 20))} is not in the list.`)
    return found
  } catch (error) {
    if (!left.signal.aborted) throw error
    throw new ConfigError('invalidOption', 'No session was chosen.')
  } finally {
    terminal.close()
  }
}
