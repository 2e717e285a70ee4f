import { isJsonObject } from '../../../src/contract/json.ts'
import type { InputAnswer, JsonObject } from '../../../src/index.ts'
import { isTitle, maxTitleChars } from '../../../src/internal.ts'
import { answerProblems } from '../access/answer-problems.ts'
import { readOwnBody, readSharedText } from '../access/body.ts'
import { newApp } from '../access/new-app.ts'
import { ProblemError, refuse, unknownSession } from '../access/problem.ts'
import type { Decision } from '../live/commands/decide.ts'
import type { BeginCommands, GatewayCommand } from '../live/gateway/gateway-command.ts'
import type { Place } from '../live/live-session-host.ts'
import type { SessionRoutes } from '../live/live-sessions.ts'
import { cursorOf, eventStream } from '../stream/run-stream.ts'
import { addClientCallRoutes } from './client-call-routes.ts'
import { askedIn } from './client-settings.ts'
import { addHistoryRoutes } from './history-routes.ts'
import { keyOf, promptKeys, promptOf, runKeys } from './prompt-body.ts'
import { addAgUiRoutes } from './protocols/ag-ui-routes.ts'
import { addChatRoutes } from './protocols/chat-routes.ts'
import { addOpenAiRoutes } from './protocols/openai-routes.ts'
import { checkedRoutes, type RouteOptions, type SessionApp, type SessionContext, type SessionRouteOptions } from './route-options.ts'
import { addScheduleRoutes, addStateRoutes } from './state-routes.ts'

/**
 * Creates the routes of live sessions, which are the same on every host. Expects authenticated requests.
 *
 * **Contract**
 * - Runs continue if a client disconnects.
 * - The server's history is authoritative. Clients can add only user messages and decisions.
 *
 * Source: docs/guides/serve-over-http.md
 */
export function liveSessionRoutes(options: RouteOptions = {}): SessionRoutes {
  return sessionRoutes(checkedRoutes(options))
}

/** Creates the routes with a stream counter that the app shares. */
export function sessionRoutes(options: SessionRouteOptions): SessionRoutes {
  const app: SessionApp = newApp()
  answerProblems(app, options.logger)
  addRunRoutes(app, options)
  addSteeringRoutes(app, options)
  addApprovalRoutes(app, options)
  addInputRoutes(app, options)
  addClientCallRoutes(app, options)
  addTreeRoutes(app, options)
  addChatRoutes(app, options)
  addAgUiRoutes(app, options)
  addOpenAiRoutes(app, options)
  addHistoryRoutes(app, options)
  addScheduleRoutes(app, options)
  addStateRoutes(app, options)
  app.post('/title', async (c) => {
    const { title } = await readOwnBody(c, options.body, ['title'])
    if (typeof title !== 'string' || !isTitle(title))
      refuse(400, 'invalidBody', `title must be a string of 1 to ${maxTitleChars} characters.`)
    await c.env.gateway.command({ type: 'rename', title })
    return c.body(null, 204)
  })
  app.get('/export', async (c) =>
    c.body(await c.env.gateway.read.exported(), 200, { 'content-type': 'application/x-ndjson; charset=utf-8' }),
  )
  app.post('/import', async (c) => {
    if (!options.imports)
      refuse(403, 'importsAreOff', 'Imports are disabled on this server. Enable imports there to accept sessions from users.')
    const text = await readSharedText(c, options.body)
    await c.env.gateway.command({ type: 'import', text, replace: c.req.query('replace') === 'true' })
    return c.body(null, 204)
  })
  app.delete('/', async (c) => {
    const { wasKnown } = await c.env.gateway.command({ type: 'delete' })
    if (!wasKnown) throw new ProblemError(unknownSession)
    return c.body(null, 204)
  })
  return async (request, gateway) => app.fetch(request, { gateway })
}

function addRunRoutes(app: SessionApp, options: SessionRouteOptions): void {
  app.post('/runs', async (c) => {
    const body = await readOwnBody(c, options.body, promptKeys)
    return answerWithRun(c, options, { type: 'prompt', ...promptOf(body, options.clientSettings), ...placeIn(body) })
  })
  app.post('/send', async (c) => {
    const body = await readOwnBody(c, options.body, promptKeys)
    return answerWithRun(c, options, { type: 'send', ...promptOf(body, options.clientSettings), ...placeIn(body) })
  })
  app.post('/continue', async (c) => {
    const isEmpty = c.req.header('content-type') === undefined
    const body = isEmpty ? {} : await readOwnBody(c, options.body, runKeys)
    return answerWithRun(c, options, { type: 'continue', ...placeIn(body), ask: askedIn(body, options.clientSettings) })
  })
  app.get('/runs/:loopId/events', async (c) => {
    const { gateway } = c.env
    options.streams.assertRoom(gateway.caller)
    const cursor = c.req.query('after') ?? c.req.header('last-event-id')
    const after = cursor === undefined ? {} : { after: cursorOf(cursor) }
    const source = await gateway.events({ loopId: c.req.param('loopId'), ...after }, 'names')
    return eventStream(source, { ...options, caller: gateway.caller })
  })
  app.get('/events', async (c) => {
    const { gateway } = c.env
    options.streams.assertRoom(gateway.caller)
    const loopId = c.req.query('loopId')
    const after = cursorOf(c.req.query('after') ?? '0')
    if (after > 0 && loopId === undefined) refuse(400, 'invalidCursor', 'after counts the events of one loop. Send its loopId too.')
    const source = await gateway.follow(loopId === undefined ? undefined : { loopId, after }, 'names')
    return eventStream(source, { ...options, caller: gateway.caller })
  })
  app.post('/stop', async (c) => {
    await c.env.gateway.command({ type: 'stop' })
    return c.body(null, 204)
  })
}

/** Responds with 202 and the receipt: the id of the message in the history, unless the run ends first. */
function addSteeringRoutes(app: SessionApp, options: SessionRouteOptions): void {
  const queued = async (c: SessionContext, type: 'steer' | 'followUp') => {
    const body = await readOwnBody(c, options.body, ['loopId', ...promptKeys])
    // A steering message uses its run's settings.
    const { messages } = promptOf(body, [])
    return c.json(await c.env.gateway.command({ type, messages, loopId: body.loopId, key: keyOf(c) }), 202)
  }
  app.post('/steer', (c) => queued(c, 'steer'))
  app.post('/follow-up', (c) => queued(c, 'followUp'))
  app.get('/queue/:messageId', async (c) => {
    const messageId = c.req.param('messageId')
    const message = await c.env.gateway.read.queued(messageId)
    if (message === undefined)
      refuse(404, 'notFound', 'No message was queued with this id. Use the messageId from the response of …/steer or …/follow-up.')
    return c.json({ kind: message.kind, loopId: message.loopId, messageId, status: message.status })
  })
  app.delete('/queue/:messageId', async (c) => {
    const { wasWaiting } = await c.env.gateway.command({ type: 'withdraw', messageId: c.req.param('messageId') })
    if (wasWaiting) return c.body(null, 204)
    refuse(404, 'notFound', 'The message is no longer queued: the run received it or ended.')
  })
}

function addApprovalRoutes(app: SessionApp, options: SessionRouteOptions): void {
  app.get('/approvals', async (c) => c.json({ approvals: await c.env.gateway.read.approvals() }))
  app.post('/approvals/:toolCallId', async (c) => {
    const decision = decisionIn(await readOwnBody(c, options.body, decisionKeys))
    const { loopId } = await c.env.gateway.command({ type: 'decide', toolCallId: c.req.param('toolCallId'), ...decision })
    return c.json({ loopId }, 202)
  })
}

const decisionKeys = ['approved', 'argumentsHash', 'reason', 'arguments', 'tellModel'] as const

/** Returns the decision in a body, which never identifies the approver. */
function decisionIn(body: JsonObject): Omit<Decision, 'toolCallId'> {
  const { approved, argumentsHash, reason, arguments: edited, tellModel } = body
  if (typeof approved !== 'boolean') refuse(400, 'invalidBody', 'approved must be true or false.')
  if (argumentsHash !== undefined && typeof argumentsHash !== 'string') refuse(400, 'invalidBody', 'argumentsHash must be a string.')
  if (reason !== undefined && typeof reason !== 'string') refuse(400, 'invalidBody', 'reason must be a string or omitted.')
  if (approved && argumentsHash === undefined)
    refuse(400, 'invalidBody', 'To approve, send the argumentsHash of the request that was shown.')
  if (edited !== undefined && !isJsonObject(edited)) refuse(400, 'invalidBody', 'arguments must be a JSON object or omitted.')
  if (!approved && edited !== undefined)
    refuse(400, 'invalidBody', 'A denial cannot contain arguments. Remove them, or send approved: true.')
  if (tellModel !== undefined && typeof tellModel !== 'boolean') refuse(400, 'invalidBody', 'tellModel must be true, false or omitted.')
  return {
    approved,
    ...(argumentsHash !== undefined && { argumentsHash }),
    ...(reason !== undefined && { reason }),
    ...(edited !== undefined && { arguments: edited }),
    ...(tellModel !== undefined && { tellModel }),
  }
}

/** Adds the routes for user input requests. Passes the input to the call and does not store it. */
function addInputRoutes(app: SessionApp, options: SessionRouteOptions): void {
  app.get('/inputs', async (c) => c.json({ inputs: await c.env.gateway.read.inputs() }))
  app.post('/inputs/:inputId', async (c) => {
    const { action, content } = await readOwnBody(c, options.body, ['action', 'content'])
    if (action !== 'accept' && action !== 'decline' && action !== 'cancel')
      refuse(400, 'invalidBody', 'action must be "accept", "decline" or "cancel".')
    if (content !== undefined && !isJsonObject(content)) refuse(400, 'invalidBody', 'content must be an object or omitted.')
    const answer: InputAnswer = action === 'accept' ? { action, ...(isJsonObject(content) && { content }) } : { action }
    const { loopId } = await c.env.gateway.command({ type: 'answerInput', inputId: c.req.param('inputId'), answer })
    return c.json({ loopId }, 202)
  })
}

/** Adds the routes that rewind the conversation or change later requests. Each starts a run and responds with its events. */
function addTreeRoutes(app: SessionApp, options: SessionRouteOptions): void {
  const bodyOf = async (c: SessionContext, ...names: string[]): Promise<JsonObject> => {
    const body = await readOwnBody(c, options.body, [...names, ...runKeys])
    if (!(await c.env.gateway.read.isKnown())) throw new ProblemError(unknownSession)
    return body
  }
  app.post('/compact', async (c) => {
    const body = await bodyOf(c, 'focusMessage')
    const { focusMessage } = body
    if (focusMessage !== undefined && typeof focusMessage !== 'string')
      refuse(400, 'invalidBody', 'focusMessage must be a string or omitted.')
    return answerWithRun(c, options, { type: 'compact', focusMessage, ...placeIn(body) })
  })
  app.post('/regenerate', async (c) => {
    const body = await bodyOf(c, 'messageId')
    const { messageId } = body
    if (messageId !== undefined && typeof messageId !== 'string')
      refuse(400, 'invalidBody', 'messageId must be the id of a message, or omitted.')
    const ask = askedIn(body, options.clientSettings)
    return answerWithRun(c, options, { type: 'regenerate', messageId, ask, ...placeIn(body) })
  })
  app.post('/edit', async (c) => {
    const body = await bodyOf(c, 'messageId', 'prompt')
    const { messageId } = body
    if (typeof messageId !== 'string') refuse(400, 'invalidBody', 'messageId must be the id of the user message to replace.')
    return answerWithRun(c, options, { type: 'edit', messageId, ...promptOf(body, options.clientSettings), ...placeIn(body) })
  })
  app.post('/branch', async (c) => {
    const body = await bodyOf(c, 'loopId', 'tag', 'prompt')
    const { loopId, tag = 'branch' } = body
    if (typeof loopId !== 'string' || typeof tag !== 'string')
      refuse(400, 'invalidBody', 'loopId must be the id of a loop in this session, and tag must be a string.')
    return answerWithRun(c, options, { type: 'branch', tag, from: loopId, ...promptOf(body, options.clientSettings) })
  })
}

/** Starts a run, once per `Idempotency-Key` if set, and streams it. */
async function answerWithRun(
  c: SessionContext,
  options: SessionRouteOptions,
  command: GatewayCommand<keyof BeginCommands>,
): Promise<Response> {
  const { gateway } = c.env
  options.streams.assertRoom(gateway.caller)
  const run = await gateway.command({ ...command, key: keyOf(c) })
  return eventStream(await gateway.events(run, 'names'), { ...options, caller: gateway.caller })
}

/** Returns the loop that a body selects as the start point, if any. */
function placeIn({ from }: JsonObject): Place {
  if (from !== undefined && typeof from !== 'string')
    refuse(400, 'invalidBody', 'from must be the id of a loop in this session, or omitted.')
  return from === undefined ? {} : { from }
}
