import type { ForwardedCommand, SessionCommand } from '../../../../src/internal.ts'
import { assertUncompressed, type BodyLimits, readText } from '../../access/body.ts'

/** Milliseconds that whoever has a session has until he begins to answer what was passed on, where nothing else is said. */
export const defaultForwardMs = 600_000

type Changing = Exclude<SessionCommand['type'], 'read'>

/** The request that each command is, within its session. What is not here is not passed on to another process, nor to anybody. */
const ways: Readonly<Record<Changing, readonly [method: 'POST' | 'DELETE', path: string]>> = {
  prompt: ['POST', '/runs'],
  send: ['POST', '/send'],
  continue: ['POST', '/continue'],
  compact: ['POST', '/compact'],
  regenerate: ['POST', '/regenerate'],
  edit: ['POST', '/edit'],
  branch: ['POST', '/branch'],
  steer: ['POST', '/steer'],
  followUp: ['POST', '/follow-up'],
  withdraw: ['DELETE', '/queue/:id'],
  decide: ['POST', '/approvals/:id'],
  answerInput: ['POST', '/inputs/:id'],
  claimCall: ['POST', '/client-calls/:id/claim'],
  answerCall: ['POST', '/client-calls/:id'],
  stop: ['POST', '/stop'],
  rename: ['POST', '/title'],
  changeState: ['POST', '/state'],
  import: ['POST', '/import'],
  delete: ['DELETE', '/'],
  schedule: ['POST', '/schedules'],
  unschedule: ['DELETE', '/schedules/:id'],
  chat: ['POST', '/chat'],
  agUi: ['POST', '/agui'],
  chatCompletion: ['POST', '/openai/chat/completions'],
  response: ['POST', '/openai/responses'],
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
  const [method, path] = ways[command.type]
  if (contentType !== undefined) headers.set('content-type', contentType)
  const whole = 'id' in command ? path.replace(':id', () => command.id) : path
  return new Request(addressOf(whole, query), { method, headers, signal, ...(body !== undefined && { body }) })
}

/** Not relative to a host: a path that begins with two slashes would be another one. */
function addressOf(path: string, query: string): string {
  return `http://localhost${path}${query}`
}

type About = Extract<Extract<SessionCommand, { type: Changing }>, { id: string }>['type']

function wayOf(method: string, pathname: string): { type: Exclude<Changing, About> } | { type: About; id: string } | undefined {
  for (const [type, [itsMethod, path]] of Object.entries(ways)) {
    if (method !== itsMethod) continue
    const id = idIn(pathname.split('/'), path.split('/'))
    if (id === undefined) continue
    // Of a table whose names are these.
    return (id === '' ? { type } : { type, id }) as ReturnType<typeof wayOf>
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
