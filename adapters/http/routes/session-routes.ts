import type { Agent, AgentRun, JsonObject } from '../../../src/index.ts'
import { isTitle, maxTitleChars } from '../../../src/internal.ts'
import { answerProblems, newApp } from '../access/answer-problems.ts'
import { readJsonObject, readSharedText } from '../access/body.ts'
import { refuse, soonMs } from '../access/problem.ts'
import { decide } from '../live/commands/decide.ts'
import type { Place } from '../live/live-session-host.ts'
import type { SessionRoutes } from '../live/live-sessions.ts'
import { cursorOf, eventStream, eventsAfter, runStream } from '../stream/run-stream.ts'
import { addClientCallRoutes } from './client-call-routes.ts'
import { askedIn } from './client-settings.ts'
import { addHistoryRoutes, refuseUnknown } from './history-routes.ts'
import { keyOf, promptOf, withKey } from './prompt-body.ts'
import { addAgUiRoutes } from './protocols/ag-ui-routes.ts'
import { addChatRoutes } from './protocols/chat-routes.ts'
import { addOpenAiRoutes } from './protocols/openai-routes.ts'
import { checkedRoutes, type RouteOptions, type SessionApp, type SessionContext, type SessionRouteOptions } from './route-options.ts'
import { runOf } from './run-of.ts'
import { addScheduleRoutes } from './schedule-routes.ts'
import { addStateRoutes } from './state-routes.ts'

/**
 * The routes of live sessions, the same on every host. Whoever comes here may: who it is was asked before.
 *
 * **Contract**
 * - A client that leaves stops nothing.
 * - What the server has said and done counts: a client adds user messages and decisions, nothing else.
 *
 * Source: docs/http-and-workers.md
 */
export function liveSessionRoutes(options: RouteOptions = {}): SessionRoutes {
  return sessionRoutes(checkedRoutes(options))
}

/** The same for an app that counts all of its streams together. */
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
    const { title } = await readJsonObject(c, options.body)
    if (typeof title !== 'string' || !isTitle(title))
      refuse(400, 'invalidBody', `title must be a text of 1 to ${maxTitleChars} characters.`)
    if (!(await c.env.live.recorded.isKnown())) return refuseUnknown()
    await (await c.env.live.agent()).rename(title)
    return c.body(null, 204)
  })
  app.get('/export', async (c) => c.body(await c.env.live.exported(), 200, { 'content-type': 'application/x-ndjson; charset=utf-8' }))
  app.post('/import', async (c) => {
    if (!options.imports)
      refuse(403, 'importsAreOff', 'This server takes in no sessions. Switch imports on there where its users may bring their own.')
    await c.env.live.take(await readSharedText(c, options.body), { replace: c.req.query('replace') === 'true' })
    return c.body(null, 204)
  })
  app.delete('/', async (c) => {
    if (!(await c.env.live.delete())) return refuseUnknown()
    return c.body(null, 204)
  })
  return async (request, live) => app.fetch(request, { live })
}

function addRunRoutes(app: SessionApp, options: SessionRouteOptions): void {
  app.post('/runs', async (c) => {
    const body = await readJsonObject(c, options.body)
    const { messages, said } = promptOf(body, options.clientSettings)
    const input = withKey(messages, keyOf(c))
    return answerWithRun(c, options, (agent) => agent.prompt(input, said(agent)), placeIn(body))
  })
  app.post('/send', async (c) => {
    const body = await readJsonObject(c, options.body)
    const { messages, said } = promptOf(body, options.clientSettings)
    const input = withKey(messages, keyOf(c))
    return answerWithRun(c, options, (agent) => agent.send(input, said(agent)), placeIn(body))
  })
  app.post('/continue', async (c) => {
    const isEmpty = c.req.header('content-type') === undefined
    const body = isEmpty ? {} : await readJsonObject(c, options.body)
    const place = placeIn(body)
    const asked = askedIn(body, options.clientSettings)
    return answerWithRun(c, options, (agent) => agent.continueLoop(asked(agent)), place)
  })
  app.get('/runs/:loopId/events', async (c) => {
    options.streams.assertRoom(c.env.live.caller)
    const run = await runOf(c.env.live, c.req.param('loopId'))
    return runStream(run, c.req.query('after') ?? c.req.header('last-event-id'), { ...options, live: c.env.live })
  })
  app.get('/events', async (c) => {
    options.streams.assertRoom(c.env.live.caller)
    const loopId = c.req.query('loopId')
    const closed = new AbortController()
    const after = cursorOf(c.req.query('after') ?? '0')
    if (after > 0 && loopId === undefined) refuse(400, 'invalidCursor', 'after counts the events of one loop. Send its loopId too.')
    const events = loopId === undefined ? undefined : eventsAfter(await runOf(c.env.live, loopId), after)
    return eventStream(c.env.live.follow(closed.signal, events), { ...options, live: c.env.live }, { onClose: () => closed.abort() })
  })
  app.post('/stop', async (c) => {
    const { live } = c.env
    if (!(await live.recorded.isKnown()) && !(await live.isRunning())) return refuseUnknown()
    await live.stop()
    return c.body(null, 204)
  })
}

/** 202 with the receipt: the id under which the message will be in the history, unless the run ends first. */
function addSteeringRoutes(app: SessionApp, options: SessionRouteOptions): void {
  const queued = async (c: SessionContext, kind: 'steer' | 'followUp') => {
    const body = await readJsonObject(c, options.body)
    // What steers a run has the settings of that run.
    const { messages } = promptOf(body, [])
    const key = keyOf(c)
    const { loopId, receipt } = await c.env.live.queueOnce(key, (run) => {
      const isMeant = body.loopId === undefined || body.loopId === run?.loopId
      if (run === undefined || !isMeant) refuse(409, 'notRunning', 'No run is on that could take this in. Send it to …/runs.')
      return { kind, loopId: run.loopId, receipt: run[kind](withKey(messages, key)) }
    })
    await receipt.stored.catch(() =>
      refuse(503, 'storeFailed', 'The message could not be stored, so the run has ended. Send the message to …/runs.', soonMs),
    )
    const { message, status } = receipt
    if (status === 'returned') refuse(409, 'notRunning', 'The run has just ended. Send it to …/runs.')
    return c.json({ loopId, messageId: message.id, status }, 202)
  }
  app.post('/steer', (c) => queued(c, 'steer'))
  app.post('/follow-up', (c) => queued(c, 'followUp'))
  app.get('/queue/:messageId', async (c) => {
    const messageId = c.req.param('messageId')
    const said = await c.env.live.recorded.queuedInput(messageId)
    if (said === undefined)
      refuse(404, 'notFound', 'Nothing was queued under this id. Take messageId from the answer of …/steer or …/follow-up.')
    return c.json({ kind: said.kind, loopId: said.loopId, messageId, status: said.status })
  })
  app.delete('/queue/:messageId', async (c) => {
    if (await c.env.live.queued.withdraw(c.req.param('messageId'))) return c.body(null, 204)
    refuse(404, 'notFound', 'No such message waits: the run has taken it in, or has ended.')
  })
}

function addApprovalRoutes(app: SessionApp, options: SessionRouteOptions): void {
  app.get('/approvals', async (c) => c.json({ approvals: (await c.env.live.historyPage({ limit: 1 })).approvals }))
  app.post('/approvals/:toolCallId', async (c) => {
    const { approved, argumentsHash, reason } = await readJsonObject(c, options.body)
    if (typeof approved !== 'boolean') refuse(400, 'invalidBody', 'approved must be true or false.')
    if (argumentsHash !== undefined && typeof argumentsHash !== 'string') refuse(400, 'invalidBody', 'argumentsHash must be a text.')
    if (reason !== undefined && typeof reason !== 'string') refuse(400, 'invalidBody', 'reason must be a text, or left out.')
    if (approved && argumentsHash === undefined) {
      refuse(400, 'invalidBody', 'To approve, send the argumentsHash of the request that was shown.')
    }
    const toolCallId = c.req.param('toolCallId')
    const decision = {
      toolCallId,
      approved,
      ...(argumentsHash !== undefined && { argumentsHash }),
      ...(reason !== undefined && { reason }),
    }
    const run = await decide(c.env.live, [decision])
    return c.json({ loopId: run.loopId }, 202)
  })
}

/** What running calls ask. An answer goes to the call, and is kept nowhere. */
function addInputRoutes(app: SessionApp, options: SessionRouteOptions): void {
  app.get('/inputs', async (c) => c.json({ inputs: (await c.env.live.currentRun())?.pendingInputs() ?? [] }))
  app.post('/inputs/:inputId', async (c) => {
    const { action, content } = await readJsonObject(c, options.body)
    const isObject = typeof content === 'object' && content !== null && !Array.isArray(content)
    if (action !== 'accept' && action !== 'decline' && action !== 'cancel')
      refuse(400, 'invalidBody', 'action must be "accept", "decline" or "cancel".')
    if (content !== undefined && !isObject) refuse(400, 'invalidBody', 'content must be an object, or left out.')
    const run = await c.env.live.continuedRun()
    const inputId = c.req.param('inputId')
    if (run === undefined || !run.pendingInputs().some((pending) => pending.inputId === inputId)) {
      refuse(404, 'notFound', `No request for input ${JSON.stringify(inputId.slice(0, 100))} waits. Read which ones do from …/inputs.`)
    }
    run.answer(inputId, action === 'accept' ? { action, ...(isObject && { content }) } : { action })
    return c.json({ loopId: run.loopId }, 202)
  })
}

/** What goes back in the conversation, or changes what is sent of it. Each is a run, and answers with its events. */
function addTreeRoutes(app: SessionApp, options: SessionRouteOptions): void {
  const bodyOf = async (c: SessionContext): Promise<JsonObject> => {
    const body = await readJsonObject(c, options.body)
    if (!(await c.env.live.recorded.isKnown())) return refuseUnknown()
    return body
  }
  app.post('/compact', async (c) => {
    const body = await bodyOf(c)
    const { focusMessage } = body
    if (focusMessage !== undefined && typeof focusMessage !== 'string')
      refuse(400, 'invalidBody', 'focusMessage must be a text, or left out.')
    return answerWithRun(c, options, (agent) => agent.compact(focusMessage === undefined ? {} : { focusMessage }), placeIn(body))
  })
  app.post('/regenerate', async (c) => {
    const body = await bodyOf(c)
    const { messageId } = body
    if (messageId !== undefined && typeof messageId !== 'string')
      refuse(400, 'invalidBody', 'messageId must name a message, or be left out.')
    const asked = askedIn(body, options.clientSettings)
    const regenerate = (agent: Agent) => agent.regenerate({ ...asked(agent), ...(messageId !== undefined && { messageId }) })
    return answerWithRun(c, options, regenerate, placeIn(body))
  })
  app.post('/edit', async (c) => {
    const body = await bodyOf(c)
    const { messageId } = body
    if (typeof messageId !== 'string') refuse(400, 'invalidBody', 'messageId must name the user message to replace.')
    const { messages, said } = promptOf(body, options.clientSettings)
    const input = withKey(messages, keyOf(c))
    return answerWithRun(c, options, (agent) => agent.editAndResend(messageId, input, said(agent)), placeIn(body))
  })
  app.post('/branch', async (c) => {
    const body = await bodyOf(c)
    const { loopId, tag = 'branch' } = body
    if (typeof loopId !== 'string' || typeof tag !== 'string')
      refuse(400, 'invalidBody', 'loopId must name a loop of the session; tag is a text.')
    const { messages, said } = promptOf(body, options.clientSettings)
    const input = withKey(messages, keyOf(c))
    return answerWithRun(c, options, (agent) => agent.prompt(input, { ...said(agent), kind: { kind: 'branch', tag } }), { from: loopId })
  })
}

/** Begins a run and streams it; with an `Idempotency-Key` once for that key, however often it is asked for. */
async function answerWithRun(
  c: SessionContext,
  options: SessionRouteOptions,
  begin: (agent: Agent) => AgentRun,
  place: Place,
): Promise<Response> {
  const { live } = c.env
  options.streams.assertRoom(live.caller)
  const key = keyOf(c)
  const run = key === undefined ? await live.start(begin, place) : await runOf(live, await live.startOnce(key, begin, place))
  return runStream(run, undefined, { ...options, live })
}

/** The loop from whose end a run is to go on, where a body names one. */
function placeIn({ from }: JsonObject): Place {
  if (from !== undefined && typeof from !== 'string') refuse(400, 'invalidBody', 'from must name a loop of the session, or be left out.')
  return from === undefined ? {} : { from }
}
