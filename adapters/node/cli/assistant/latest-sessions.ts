import type { SessionStore } from '../../../../src/index.ts'
import type { SessionSummary } from '../../../../src/session/index.ts'
import { OneShots } from './one-shots.ts'
import type { Project } from './project.ts'

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
