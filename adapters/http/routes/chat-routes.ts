import type { AgentMessage, AgentRun } from '../../../src/index.ts'
import { type ChatRequest, readChatRequest, toUiMessages, uiMessageEncoder, uiMessageStreamHeaders } from '../../../src/ui/ai-sdk/index.ts'
import { readJsonObject } from '../access/body.ts'
import { ProblemError, refuse } from '../access/problem.ts'
import { decideOrJoin, pendingApprovals, untilResolved } from '../live/decide.ts'
import type { LiveSession } from '../live/live-session.ts'
import { type IsSeen, uiMessageFrames } from '../stream/frame-writer.ts'
import { eventStream, waitsForPerson } from '../stream/run-stream.ts'
import type { SessionApp, SessionRouteOptions } from './route-options.ts'

/**
 * What `useChat` of the AI SDK asks for: `POST /chat`, `GET /chat/stream` (204 when nothing is on), and `GET /chat` for the messages of a
 * conversation that a page opens. Its stop is `POST /stop`.
 *
 * Source: docs/concepts/ui-protocols.md
 */
export function addChatRoutes(app: SessionApp, options: SessionRouteOptions): void {
  app.get('/chat', async (c) => {
    const { live } = c.env
    const approvals = await pendingApprovals(live)
    const messages = (await live.isKnown()) ? (await live.agent()).messages : []
    return c.json({ messages: toUiMessages(messages, { approvals }) })
  })
  app.post('/chat', async (c) => {
    const { value: request, problem } = readChatRequest(await readJsonObject(c, options.body))
    if (request === undefined) refuse(400, 'invalidBody', problem)
    options.streams.assertRoom()
    const { live } = c.env
    const { decisions } = request
    if (decisions.length === 0) return chatStream(live, await begin(live, request), options)
    const run = await decideOrJoin(live, decisions)
    return chatStream(live, run, options, { isSeen: untilResolved(decisions) })
  })
  app.get('/chat/stream', async (c) => {
    const run = await c.env.live.currentRun()
    if (run === undefined) return c.body(null, 204)
    options.streams.assertRoom()
    return chatStream(c.env.live, run, options, { restate: true })
  })
}

interface ChatStream {
  isSeen?: IsSeen
  /** For a client that has none of the answer. */
  restate?: boolean
}

function chatStream(
  live: LiveSession,
  run: AgentRun,
  options: SessionRouteOptions,
  { isSeen, restate = false }: ChatStream = {},
): Response {
  const encoder = uiMessageEncoder({ history: live.historyBefore(run), restate })
  return eventStream(run, options, { writer: uiMessageFrames(encoder, isSeen), headers: uiMessageStreamHeaders, waits: waitsForPerson(run) })
}

/** Begins the run that a request asks for. What the page knows by an id that the server does not have is new. */
async function begin(live: LiveSession, { trigger, message, messageId }: ChatRequest): Promise<AgentRun> {
  const { messages } = await live.agent()
  if (trigger === 'regenerate-message' && isIn(messages, messageId ?? message?.id)) {
    return live.start((agent) => agent.regenerate(messageId === undefined ? {} : { messageId }))
  }
  if (message === undefined) {
    throw new ProblemError({
      status: 409,
      code: 'nothingToContinue',
      detail: 'The server does not have the answer that is to be made again.',
    })
  }
  // Also what was sent before and whose answer was lost: it is not said twice.
  const said = messages.find(({ id }) => id === (messageId ?? message.id))
  if (said?.role === 'user') return live.start((agent) => agent.editAndResend(said.id, message))
  return live.start((agent) => agent.prompt(message))
}

function isIn(messages: readonly AgentMessage[], id: string | undefined): boolean {
  return id === undefined ? messages.length > 0 : messages.some((message) => message.id === id)
}
