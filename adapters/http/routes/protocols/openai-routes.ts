import { emptyUsage } from '../../../../src/context/index.ts'
import { type Agent, type AgentRun, type JsonValue, textOf } from '../../../../src/index.ts'
import { sessionOf } from '../../../../src/session/index.ts'
import {
  type CallerMessage,
  type CallerRequest,
  type ResponseObject,
  readCompletionRequest,
  readResponseRequest,
  recordedResponse,
  responseIn,
} from '../../../../src/ui/openai/index.ts'
import { readJsonObject } from '../../access/body.ts'
import type { ClientResult } from '../../live/commands/client-calls.ts'
import type { Decision } from '../../live/commands/decide.ts'
import type { LiveSession } from '../../live/live-session.ts'
import type { Place } from '../../live/live-session-host.ts'
import { accepted, answerForCaller, callerSettings } from '../../openai/caller-request.ts'
import { type Answering, backgroundAnswer, chatAnswer, responseAnswer } from '../../openai/openai-answer.ts'
import { OpenAiRefusal, refusalResponse, refuseResponse } from '../../openai/openai-error.ts'
import type { IsSeen } from '../../stream/frame-writer.ts'
import { keyOf, withKey } from '../prompt-body.ts'
import type { SessionApp, SessionContext, SessionRouteOptions } from '../route-options.ts'
import { runOf } from '../run-of.ts'
import { beginForPerson } from './begin-for-person.ts'
import { settle, untilResolved } from './settle.ts'

/**
 * What clients of OpenAI's APIs ask of a conversation that is kept: `createOpenAiApp` sends them here.
 *
 * **Contract**
 * - Of the messages of a request only what stands after the last answer is heard: what users say, and results of calls that wait for the caller.
 * - A client that leaves stops nothing. Chat completions have no words for a question: what needs approval is denied.
 *
 * Source: docs/openai-endpoint.md
 */
export function addOpenAiRoutes(app: SessionApp, options: SessionRouteOptions): void {
  app.post('/openai/chat/completions', (c) =>
    inTheirWords(async () => {
      const request = accepted(readCompletionRequest(await readJsonObject(c, options.body), { isKept: true }))
      const { run, isSeen } = await runFor(c, request, options, { canApprove: false })
      return chatAnswer(request, answering(c.env.live, run, options, isSeen))
    }),
  )
  app.post('/openai/responses', (c) =>
    inTheirWords(async () => {
      const request = accepted(readResponseRequest(await readJsonObject(c, options.body), { isKept: true }))
      const { decisions, place } = request
      const from = place?.loopId === undefined ? {} : { from: place.loopId }
      const { run, isSeen } = await runFor(c, request, options, { canApprove: true, decisions, place: from })
      const answered = answering(c.env.live, run, options, isSeen)
      return request.isBackground && !request.isStreamed ? backgroundAnswer(request, answered) : responseAnswer(request, answered)
    }),
  )
  app.get('/openai/responses/:id', (c) =>
    inTheirWords(async () => Response.json(await recorded(c.env.live, c.req.param('id')), { headers: { 'cache-control': 'no-store' } })),
  )
}

/** A response as its session has it now, which needs no agent: also after its process has ended. */
async function recorded(live: LiveSession, id: string): Promise<ResponseObject> {
  const named = responseIn(id) ?? refuseResponse(id)
  const run = await live.runOf(named.loopId)
  const { loops } = sessionOf(await live.recorded.records(), live.sessionId)
  const loop = loops.find(({ loopId }) => loopId === named.loopId)
  if (loop === undefined && run === undefined) refuseResponse(id)
  const { approvals, clientCalls } = loop === undefined ? { approvals: [], clientCalls: [] } : await live.history(named.loopId)
  const { status = 'running', startedAt = Date.now(), messages = [], usage = emptyUsage(), error, rejection } = loop ?? {}
  // Without an end in the log it goes on, here or wherever it is taken up.
  const isOpen = status === 'running' || status === 'pending' || status === 'interrupted'
  const answer = {
    ...{ messages, usage, pendingApprovals: approvals, pendingClientCalls: clientCalls },
    ...{ status: isOpen ? ('paused' as const) : status, isOn: isOpen && approvals.length + clientCalls.length === 0 },
    ...(error !== undefined && { error }),
    ...(rejection !== undefined && { rejection }),
  }
  return recordedResponse(named, answer, Math.floor(startedAt / 1000))
}

/** What a request says besides messages, and what its API has words for. */
interface Said {
  canApprove: boolean
  decisions?: readonly Decision[]
  place?: Place
}

/** The run that a request is about: one that it begins, or the one to which it brings decisions and results. */
async function runFor(
  c: SessionContext,
  request: CallerRequest,
  options: SessionRouteOptions,
  { canApprove, decisions = [], place = {} }: Said,
): Promise<{ run: AgentRun; isSeen?: IsSeen }> {
  const { live } = c.env
  options.streams.assertRoom(live.caller)
  const results = request.newest.flatMap(resultIn)
  if (decisions.length + results.length === 0) {
    const run = await begin(c, request, options, place)
    answerForCaller(run, { canApprove })
    return { run }
  }
  const run = await settle(live, { decisions, results })
  answerForCaller(run, { canApprove })
  // What is said besides comes after what was decided.
  const said = newUserMessages(request)
  if (said.length > 0) await run.followUp(said).stored.catch(() => undefined)
  return { run, isSeen: untilResolved([...decisions, ...results]) }
}

/** What the caller says came of a call: its text, or its blocks. */
function resultIn(message: CallerMessage): ClientResult[] {
  if (message.role !== 'toolResult') return []
  const { toolCallId, content } = message
  if (content.every(({ type }) => type === 'text')) return [{ toolCallId, answer: { output: textOf(content) } }]
  // Blocks as they were sent: data, which the run checks again.
  const blocks: JsonValue[] = JSON.parse(JSON.stringify(content))
  return [{ toolCallId, answer: { output: { content: blocks } } }]
}

function answering(live: LiveSession, run: AgentRun, options: SessionRouteOptions, isSeen?: IsSeen): Answering {
  return { run, isStored: true, streaming: { ...options, live }, ...(isSeen !== undefined && { isSeen }) }
}

/** Begins the run that a request asks for; with an `Idempotency-Key` once for that key. */
async function begin(c: SessionContext, request: CallerRequest, options: SessionRouteOptions, place: Place): Promise<AgentRun> {
  const { live } = c.env
  const settings = callerSettings(request, options.clientSettings)
  const { responseFormat, tools } = request
  const key = keyOf(c)
  const input = withKey(newUserMessages(request), key)
  // The choices of the agent say which tools of callers it takes.
  const choice = { ...(tools.length > 0 && { clientTools: tools }), ...(responseFormat !== undefined && { responseFormat }) }
  const prompt = (agent: Agent) => agent.prompt(input, { ...settings, ...choice })
  if (key !== undefined) return runOf(live, await live.startOnce(key, prompt, place))
  return place.from === undefined ? beginForPerson(live, prompt) : live.start(prompt, place)
}

function newUserMessages({ newest }: CallerRequest) {
  return newest.filter((message) => message.role === 'user')
}

/** What is refused in the words of OpenAI's API is answered so on every host. */
async function inTheirWords(answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer()
  } catch (error) {
    if (error instanceof OpenAiRefusal) return refusalResponse(error)
    throw error
  }
}
