import type { ForwardedCommand, SessionCommand } from '../../../../src/contract/session/session-command.ts'
import { namesOf } from '../../../../src/contract/shape/shape.ts'
import { assertUncompressed, type BodyLimits, readText } from '../../access/body.ts'

/** Default milliseconds until a session's owner must begin the response to a forwarded request. */
export const defaultForwardMs = 600_000

/** Milliseconds within which the owner must start the request. */
const defaultBeginMs = 30_000

/** Returns the start and response deadlines for a request that is forwarded `now`. */
export function deadlinesFrom(now: number, withinMs: number = defaultForwardMs): Pick<ForwardedCommand, 'beginBy' | 'deadline'> {
  // Leave the rest of a short timeout for the response.
  return { beginBy: now + Math.min(defaultBeginMs, Math.ceil(withinMs / 2)), deadline: now + withinMs }
}

type Changing = Exclude<SessionCommand, { type: 'read' }>
/** Commands that refer to an item in the session by id. */
type About = Extract<Changing, { id: string }>['type']
type OfSession = Exclude<Changing['type'], About>

type Way = readonly [method: 'POST' | 'DELETE', path: string]

/** The HTTP request of each session command. Commands without an entry are never forwarded. */
const waysOfSession: Readonly<Record<OfSession, Way>> = {
  prompt: ['POST', '/runs'],
  send: ['POST', '/send'],
  continue: ['POST', '/continue'],
  compact: ['POST', '/compact'],
  regenerate: ['POST', '/regenerate'],
  edit: ['POST', '/edit'],
  branch: ['POST', '/branch'],
  steer: ['POST', '/steer'],
  followUp: ['POST', '/follow-up'],
  stop: ['POST', '/stop'],
  rename: ['POST', '/title'],
  changeState: ['POST', '/state'],
  import: ['POST', '/import'],
  delete: ['DELETE', '/'],
  schedule: ['POST', '/schedules'],
  chat: ['POST', '/chat'],
  agUi: ['POST', '/agui'],
  chatCompletion: ['POST', '/openai/chat/completions'],
  response: ['POST', '/openai/responses'],
}

/** The requests for commands with an id. */
const waysAbout: Readonly<Record<About, Way>> = {
  withdraw: ['DELETE', '/queue/:id'],
  decide: ['POST', '/approvals/:id'],
  answerInput: ['POST', '/inputs/:id'],
  claimCall: ['POST', '/client-calls/:id/claim'],
  answerCall: ['POST', '/client-calls/:id'],
  unschedule: ['DELETE', '/schedules/:id'],
}

/** A command parsed from a request, with its key. */
export type AskedCommand = Pick<ForwardedCommand, 'command' | 'idempotencyKey' | 'reason'>

/** Parses the command in a session request, reading its body within `limits`. Returns `undefined` if the request is not a command. */
export async function commandIn(request: Request, limits: BodyLimits): Promise<AskedCommand | undefined> {
  const { pathname, search } = new URL(request.url)
  const { method, headers } = request
  const query = search === '' ? {} : { query: search }
  const key = headers.get('idempotency-key')
  const keyed = key === null ? {} : { idempotencyKey: key }
  if (method === 'GET' || method === 'HEAD') {
    const after = headers.get('last-event-id')
    return { command: { type: 'read', method, path: pathname, ...query, ...(after !== null && { after }) }, ...keyed }
  }
  const found = wayOf(method, pathname)
  if (found === undefined) return undefined
  assertUncompressed(headers)
  const contentType = headers.get('content-type')
  const body = request.body === null ? {} : { body: await readText(request, limits) }
  return { command: { ...found, ...query, ...(contentType !== null && { contentType }), ...body }, ...keyed }
}

/** Returns the HTTP request for a command, for the routes in the process that owns the session. */
export function requestFor({ command, idempotencyKey }: AskedCommand, signal: AbortSignal): Request {
  const { query = '' } = command
  const headers = new Headers()
  if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey)
  if (command.type === 'read') {
    if (command.after !== undefined) headers.set('last-event-id', command.after)
    return new Request(addressOf(command.path, query), { method: command.method, headers, signal })
  }
  const { contentType, body } = command
  const [method, path] = 'id' in command ? waysAbout[command.type] : waysOfSession[command.type]
  if (contentType !== undefined) headers.set('content-type', contentType)
  const whole = 'id' in command ? path.replace(':id', () => command.id) : path
  return new Request(addressOf(whole, query), { method, headers, signal, ...(body !== undefined && { body }) })
}

/** Builds the URL. Does not resolve the path as a relative reference, because a path that starts with two slashes would become a host. */
function addressOf(path: string, query: string): string {
  return `http://localhost${path}${query}`
}

function wayOf(method: string, pathname: string): { type: OfSession } | { type: About; id: string } | undefined {
  const idBy = ([itsMethod, path]: Way) => (method === itsMethod ? idIn(pathname.split('/'), path.split('/')) : undefined)
  for (const type of namesOf(waysOfSession)) if (idBy(waysOfSession[type]) === '') return { type }
  for (const type of namesOf(waysAbout)) {
    const id = idBy(waysAbout[type])
    if (id !== undefined && id !== '') return { type, id }
  }
  return undefined
}

/** Returns the id in a path of this form, or an empty string if the form has no id, or `undefined` for other paths. */
function idIn(parts: readonly string[], form: readonly string[]): string | undefined {
  if (parts.length !== form.length) return undefined
  let id = ''
  for (const [at, part] of parts.entries()) {
    if (form[at] === ':id' && part !== '') id = part
    else if (decoded(part) !== form[at]) return undefined
  }
  return id
}

/** Decodes a path segment the way the routes do. */
function decoded(part: string): string {
  try {
    return decodeURI(part)
  } catch {
    return part
  }
}
