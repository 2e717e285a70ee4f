import { emptyUsage } from '../../../../src/context.ts'
import { type JsonValue, textOf } from '../../../../src/index.ts'
import type { CallerMessage, CallerRequest } from '../../../../src/internal.ts'
import { type ResponseObject, readCompletionRequest, readResponseRequest, recordedResponse, responseIn } from '../../../../src/ui/openai.ts'
import { readJsonObject } from '../../access/body.ts'
import type { ClientResult } from '../../live/commands/client-calls.ts'
import type { Decision } from '../../live/commands/decide.ts'
import type { AboutRun } from '../../live/gateway/gateway-command.ts'
import type { SessionGateway } from '../../live/gateway/session-gateway.ts'
import type { Place } from '../../live/live-session-host.ts'
import { accepted, callerSettings } from '../../openai/caller-request.ts'
import { type Answering, backgroundAnswer, chatAnswer, responseAnswer } from '../../openai/openai-answer.ts'
import { OpenAiRefusal, refusalResponse, refuseResponse } from '../../openai/openai-error.ts'
import { keyOf } from '../prompt-body.ts'
import type { SessionApp, SessionContext, SessionRouteOptions } from '../route-options.ts'

/**
 * Adds the routes that store conversations for OpenAI clients. `createOpenAiApp` forwards requests to them.
 *
 * **Contract**
 * - Reads only messages after the last response: user messages, and results for the caller's pending calls.
 * - Runs continue if the client disconnects. Denies calls that need approval, because chat completions cannot represent approvals.
 *
 * Source: docs/guides/openai-endpoint.md
 */
export function addOpenAiRoutes(app: SessionApp, options: SessionRouteOptions): void {
  app.post('/openai/chat/completions', (c) =>
    inTheirWords(async () => {
      const request = accepted(readCompletionRequest(await readJsonObject(c, options.body), { isKept: true }))
      return chatAnswer(request, await answering(c, request, options, { canApprove: false }))
    }),
  )
  app.post('/openai/responses', (c) =>
    inTheirWords(async () => {
      const request = accepted(readResponseRequest(await readJsonObject(c, options.body), { isKept: true }))
      const { decisions, place } = request
      const from = place?.loopId === undefined ? {} : { from: place.loopId }
      const answer = await answering(c, request, options, { canApprove: true, decisions, place: from })
      return request.isBackground && !request.isStreamed ? backgroundAnswer(request, answer) : responseAnswer(request, answer)
    }),
  )
  app.get('/openai/responses/:id', (c) =>
    inTheirWords(async () => Response.json(await recorded(c.env.gateway, c.req.param('id')), { headers: { 'cache-control': 'no-store' } })),
  )
}

/** Returns a response from the log. Needs no agent, so it works even after the run's process has ended. */
async function recorded(gateway: SessionGateway, id: string): Promise<ResponseObject> {
  const named = responseIn(id) ?? refuseResponse(id)
  const { loop, approvals, clientCalls } = (await gateway.read.loop(named.loopId)) ?? refuseResponse(id)
  const { status = 'running', startedAt = Date.now(), messages = [], usage = emptyUsage(), error, rejection } = loop ?? {}
  // Without an end in the log, the run is still active in this process or will be resumed.
  const isOpen = status === 'running' || status === 'pending' || status === 'interrupted'
  const answer = {
    ...{ messages, usage, pendingApprovals: approvals, pendingClientCalls: clientCalls },
    ...{ status: isOpen ? ('paused' as const) : status, isOn: isOpen && approvals.length + clientCalls.length === 0 },
    ...(error !== undefined && { error }),
    ...(rejection !== undefined && { rejection }),
  }
  return recordedResponse(named, answer, Math.floor(startedAt / 1000))
}

/** Options for a request, and the limits of its API. */
interface PromptSource {
  canApprove: boolean
  decisions?: readonly Decision[]
  place?: Place
}

/** Returns the run for a request: a new run, or the run that receives the decisions and results. */
async function answering(
  c: SessionContext,
  request: CallerRequest,
  options: SessionRouteOptions,
  source: PromptSource,
): Promise<Answering> {
  const { gateway } = c.env
  options.streams.assertRoom(gateway.caller)
  const { canApprove, decisions = [], place = {} } = source
  const results = request.newest.flatMap(resultIn)
  const messages = newUserMessages(request)
  const unattended = { canApprove }
  const streaming = { ...options, caller: gateway.caller }
  if (decisions.length + results.length === 0) {
    const run = await begin(c, request, options, { canApprove, place })
    return { source: await gateway.events(run), streaming }
  }
  // Messages follow the decisions.
  const { since, ...run } = await gateway.command({ type: 'settle', decisions, results, messages, unattended })
  return { source: await gateway.events(run), since, streaming }
}

/** Returns the caller's result for a call: its text or blocks. */
function resultIn(message: CallerMessage): ClientResult[] {
  if (message.role !== 'toolResult') return []
  const { toolCallId, content } = message
  if (content.every(({ type }) => type === 'text')) return [{ toolCallId, answer: { output: textOf(content) } }]
  // Use the original data, which the run validates again.
  const blocks: JsonValue[] = JSON.parse(JSON.stringify(content))
  return [{ toolCallId, answer: { output: { content: blocks } } }]
}

/** Starts the run of a request, once per `Idempotency-Key` if set. */
async function begin(
  c: SessionContext,
  request: CallerRequest,
  options: SessionRouteOptions,
  { canApprove, place = {} }: PromptSource,
): Promise<AboutRun> {
  const settings = callerSettings(request, options.clientSettings)
  const { responseFormat, tools } = request
  // The agent's `choices` determine which caller tools are accepted.
  const asked = { settings, allowed: options.clientSettings, choice: {}, offered: tools }
  const ask = { ...asked, ...(responseFormat !== undefined && { responseFormat }) }
  const messages = newUserMessages(request)
  const forPerson = place.from === undefined
  return c.env.gateway.command({ type: 'prompt', messages, ask, key: keyOf(c), ...place, forPerson, unattended: { canApprove } })
}

function newUserMessages({ newest }: CallerRequest) {
  return newest.filter((message) => message.role === 'user')
}

/** Converts refusals to the format of OpenAI's API, on every host. */
async function inTheirWords(answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer()
  } catch (error) {
    if (error instanceof OpenAiRefusal) return refusalResponse(error)
    throw error
  }
}
