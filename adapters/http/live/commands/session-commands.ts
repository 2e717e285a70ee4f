import type { ForwardedCommand, SessionCommand } from '../../../../src/contract/session/session-command.ts'
import { namesOf } from '../../../../src/contract/shape/shape.ts'
import { assertUncompressed, type BodyLimits, readText } from '../../access/body.ts'

/** Milliseconds that whoever has a session has until he begins to answer what was passed on, where nothing else is said. */
export const defaultForwardMs = 600_000

/** Milliseconds in which it has to be begun. */
const defaultBeginMs = 30_000

/** Until when what is passed on `now` is to be begun, and to be answered `withinMs`. */
export function deadlinesFrom(now: number, withinMs: number = defaultForwardMs): Pick<ForwardedCommand, 'beginBy' | 'deadline'> {
  // The rest of a short time is for the answer.
  return { beginBy: now + Math.min(defaultBeginMs, Math.ceil(withinMs / 2)), deadline: now + withinMs }
}

type Changing = Exclude<SessionCommand, { type: 'read' }>
/** What is about something of the session, which has an id. */
type About = Extract<Changing, { id: string }>['type']
type OfSession = Exclude<Changing['type'], About>

type Way = readonly [method: 'POST' | 'DELETE', path: string]

/** The request that each command is, within its session. What is not here is not passed on to another process, nor to anybody. */
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

/** The same of what has an id. */
const waysAbout: Readonly<Record<About, Way>> = {
  withdraw: ['DELETE', '/queue/:id'],
  decide: ['POST', '/approvals/:id'],
  answerInput: ['POST', '/inputs/:id'],
  claimCall: ['POST', '/client-calls/:id/claim'],
  answerCall: ['POST', '/client-calls/:id'],
  unschedule: ['DELETE', '/schedules/:id'],
}

/** What a request asks for, and under which key. */
export type AskedCommand = Pick<ForwardedCommand, 'command' | 'idempotencyKey'>

/** What a request within a session asks for; undefined where it is nothing that a session knows. Its body is read, within `limits`. */
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

/** The request that a command is: for the routes of the process that has the session. */
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

/** Not relative to a host: a path that begins with two slashes would be another one. */
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

/** The id in a path of this form, the empty text where the form has none; undefined for another path. */
function idIn(parts: readonly string[], form: readonly string[]): string | undefined {
  if (parts.length !== form.length) return undefined
  let id = ''
  for (const [at, part] of parts.entries()) {
    if (form[at] === ':id' && part !== '') id = part
    else if (decoded(part) !== form[at]) return undefined
  }
  return id
}

/** As the routes read it. */
function decoded(part: string): string {
  try {
    return decodeURI(part)
  } catch {
    return part
  }
}
