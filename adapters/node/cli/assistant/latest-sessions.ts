import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { ConfigError, type SessionStore } from '../../../../src/index.ts'
import type { SessionSummary } from '../../../../src/session.ts'
import { escapeInvisible } from '../../../../src/store.ts'
import { replaceKept } from './kept-files.ts'
import type { Project } from './project.ts'

/** So many are known; older ones count as conversations. */
const mostOneShots = 1000

/** Which sessions were one question, asked with `-p` or through a pipe: lists show them apart. A line for each in a file; one that cannot be read names none. */
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

  /** Somebody talks in it now. */
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
      // The list is as it was.
    }
  }
}

/** Sessions that are looked at, and those that are listed of each kind. */
const most = { looked: 60, listed: 10 }

/** A session of this directory. */
export interface ListedSession {
  summary: SessionSummary
  /** It was one question, asked with `-p` or through a pipe. */
  isOneShot: boolean
}

/** The last conversations of a place, and after them the last questions that were asked alone; the newest of each first. */
export async function latestSessions(store: SessionStore, project: Project | undefined): Promise<ListedSession[]> {
  const { sessions } = await store.list({ limit: most.looked })
  const oneShots = project === undefined ? undefined : new OneShots(project.oneShots)
  const found = sessions.map((summary) => ({ summary, isOneShot: oneShots?.has(summary.sessionId) === true }))
  const [talks, questions] = [false, true].map((isOneShot) => found.filter((each) => each.isOneShot === isOneShot).slice(0, most.listed))
  return [...(talks ?? []), ...(questions ?? [])]
}

/** As a list with numbers. */
export function sessionLines(sessions: readonly ListedSession[]): string[] {
  return sessions.flatMap(({ summary, isOneShot }, at) => [
    ...(isOneShot && sessions[at - 1]?.isOneShot !== true ? ['single questions:'] : []),
    `${String(at + 1).padStart(2)}  ${described(summary)}`,
  ])
}

function described({ sessionId, title, messages, lastActiveAt, error }: SessionSummary): string {
  const when = new Date(lastActiveAt).toISOString().slice(0, 16).replace('T', ' ')
  return error === undefined
    ? `${when}  ${messages} messages  ${title ?? ''}  ${sessionId}`
    : `${sessionId} cannot be read: ${error.message}`
}

/** Asks the person at the terminal which session is meant; Enter is the first. Throws `ConfigError` for what is none of them. */
export async function chooseSession(sessions: readonly ListedSession[]): Promise<ListedSession> {
  const { stdin, stderr } = process
  for (const line of sessionLines(sessions)) stderr.write(`${escapeInvisible(line)}\n`)
  const terminal = createInterface({ input: stdin, output: stderr, terminal: false })
  const left = new AbortController()
  terminal.on('close', () => left.abort())
  try {
    const answer = (await terminal.question('Which one? [1] ', { signal: left.signal })).trim()
    const found = sessions[answer === '' ? 0 : Number(answer) - 1]
    if (found === undefined)
      throw new ConfigError('invalidOption', `There is no session ${JSON.stringify(answer.slice(0, 20))} in the list.`)
    return found
  } catch (error) {
    if (!left.signal.aborted) throw error
    throw new ConfigError('invalidOption', 'No session was chosen.')
  } finally {
    terminal.close()
  }
}
