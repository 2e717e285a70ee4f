import type { JsonObject } from '../../../../src/index.ts'
import {
  readChatRequest,
  toUiMessages,
  type UiReplyOptions,
  uiMessageEncoder,
  uiMessageReply,
  uiMessageSse,
  uiMessageStreamEnd,
  uiMessageStreamHeaders,
} from '../../../../src/ui/ai-sdk.ts'
import { readJsonObject } from '../../access/body.ts'
import { refuse } from '../../access/problem.ts'
import type { SessionGateway } from '../../live/gateway/session-gateway.ts'
import type { RunPlace } from '../../stream/event-source.ts'
import { type IsSeen, turnFrames, uiMessageFrames, untilResolved } from '../../stream/frame-writer.ts'
import { eventStream } from '../../stream/run-stream.ts'
import { askedIn } from '../client-settings.ts'
import { keyOf } from '../prompt-body.ts'
import type { SessionApp, SessionRouteOptions } from '../route-options.ts'
import { mediaFormOf, ownMediaIn } from './own-media.ts'

/**
 * Adds the routes of `useChat`: `POST /chat`, `GET /chat/stream` (204 without an active run), and `GET /chat` for the messages of
 * a conversation. Stop runs with `POST /stop`. `GET /chat/turns` notifies a client of other clients' turns.
 *
 * Source: docs/reference/ui-protocols.md
 */
export function addChatRoutes(app: SessionApp, options: SessionRouteOptions): void {
  app.get('/chat', async (c) => {
    const { messages, approvals, clientCalls } = await c.env.gateway.read.history({ media: mediaFormOf(options) })
    return c.json({ messages: toUiMessages(messages, { approvals, clientCalls }) })
  })
  app.post('/chat', async (c) => {
    const { gateway } = c.env
    const body = await withOwnMedia(await readJsonObject(c, options.body), gateway, options)
    const { value: request, problem } = readChatRequest(body)
    if (request === undefined) refuse(400, 'invalidBody', problem)
    const ask = askedIn(body, options.clientSettings)
    options.streams.assertRoom(gateway.caller)
    const { decisions, results, trigger, message, messageId, answer } = request
    const isAgain = trigger === 'regenerate-message'
    const saysNothing = message === undefined && !isAgain && decisions.length + results.length === 0
    const turn = { message, messageId, isAgain, decisions, results, answer, ask, key: keyOf(c) }
    const came = saysNothing ? undefined : await gateway.command({ type: 'turn', ...turn })
    const knownSteps = answer?.steps ?? 0
    if (came?.run === undefined) {
      const decided = decisions.map(({ toolCallId }) => toolCallId)
      const about = message === undefined ? answer && { answerId: answer.id, knownSteps, decided } : { to: message.id }
      return historyStream(gateway, options, about)
    }
    const { run, isJoined, since, replyTo } = came
    if (since !== undefined) return chatStream(gateway, run, options, { isSeen: untilResolved(since) })
    if (message === undefined && !isAgain) return chatStream(gateway, run, options, { knownSteps })
    // A continued or joined run contains data that the client does not have.
    return chatStream(gateway, run, options, { to: isJoined ? message?.id : replyTo, restate: true })
  })
  app.get('/chat/stream', async (c) => {
    const { gateway } = c.env
    const loopId = await gateway.read.running()
    options.streams.assertRoom(gateway.caller)
    if (loopId !== undefined) return chatStream(gateway, { loopId }, options, { restate: true })
    // Send the pending calls to a reloaded client, as the run would.
    if ((await gateway.read.clientCalls()).length > 0) return historyStream(gateway, options)
    return c.body(null, 204)
  })
  app.get('/chat/turns', async (c) => {
    const { gateway } = c.env
    options.streams.assertRoom(gateway.caller)
    return eventStream(await gateway.follow(undefined), { ...options, caller: gateway.caller }, { writer: turnFrames() })
  })
}

interface ChatStream {
  isSeen?: IsSeen
  /** Whether to send the whole response, because the client has no part of it. */
  restate?: boolean
  /** Number of response steps that the client has. */
  knownSteps?: number
  /** Steering message that the response follows. */
  to?: string | undefined
}

async function chatStream(
  gateway: SessionGateway,
  run: RunPlace,
  options: SessionRouteOptions,
  { isSeen, restate = false, knownSteps, to }: ChatStream = {},
): Promise<Response> {
  const source = await gateway.events(run, mediaFormOf(options))
  const history = await source.historyBefore()
  const replyTo = to === undefined || history.some(({ id }) => id === to) ? {} : { replyTo: to }
  const encoder = uiMessageEncoder({ history, restate, ...(knownSteps !== undefined && { knownSteps }), ...replyTo })
  const writer = uiMessageFrames(encoder, isSeen)
  return eventStream(source, { ...options, caller: gateway.caller }, { writer, headers: uiMessageStreamHeaders })
}

/** Returns a response from the history as a complete stream. Default: the last response. */
async function historyStream(gateway: SessionGateway, options: SessionRouteOptions, about: UiReplyOptions = {}): Promise<Response> {
  const { messages, approvals, clientCalls } = await gateway.read.history({ media: mediaFormOf(options) })
  const chunks = uiMessageReply(messages, { approvals, clientCalls, ...about })
  return new Response(chunks.map(uiMessageSse).join('') + uiMessageStreamEnd, { headers: uiMessageStreamHeaders })
}

/** Returns the body with the bytes of files that its last message references in this session. */
async function withOwnMedia(body: JsonObject, gateway: SessionGateway, options: SessionRouteOptions): Promise<JsonObject> {
  const { messages } = body
  const last = Array.isArray(messages) ? messages.at(-1) : undefined
  if (!Array.isArray(messages) || last === undefined) return body
  const own = await ownMediaIn(last, gateway, options)
  return own === last ? body : { ...body, messages: [...messages.slice(0, -1), own] }
}
