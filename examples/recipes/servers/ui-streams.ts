// #region imports
import type { Agent, AgentEvent, AgentRun } from 'phi-core'
import { agUiEncoder, agUiHeaders, agUiSse, readRunInput } from 'phi-core/ui/ag-ui'
import { readChatRequest, uiMessageEncoder, uiMessageSse, uiMessageStreamEnd, uiMessageStreamHeaders } from 'phi-core/ui/ai-sdk'
// #endregion imports

// #region ai-sdk
/** Handles a request of `useChat`. `agentOf` returns the agent of a session. */
export async function chat(request: Request, agentOf: (sessionId: string) => Agent): Promise<Response> {
  const { value, problem } = readChatRequest(await request.text())
  if (value?.message === undefined) return new Response(problem ?? 'Send a message.', { status: 400 })
  const agent = agentOf(value.sessionId)
  const encoder = uiMessageEncoder({ history: [...agent.messages] })
  const run = agent.prompt(value.message)
  return streamed(run, uiMessageStreamHeaders, (event) => encoder.encode(event).map(uiMessageSse).join(''), uiMessageStreamEnd)
}
// #endregion ai-sdk

// #region ag-ui
/** Handles a request of an AG-UI client. */
export async function agUi(request: Request, agentOf: (sessionId: string) => Agent): Promise<Response> {
  const { value, problem } = readRunInput(await request.text())
  if (value?.message === undefined) return new Response(problem ?? 'Send a message.', { status: 400 })
  const { threadId, runId, message } = value
  const agent = agentOf(threadId)
  const encoder = agUiEncoder({ threadId, runId, history: [...agent.messages] })
  return streamed(agent.prompt(message), agUiHeaders, (event) => encoder.encode(event).map(agUiSse).join(''))
}
// #endregion ag-ui

// #region streamed
/** Streams a run as the body of a response. The run continues if the client disconnects. */
function streamed(run: AgentRun, headers: HeadersInit, write: (event: AgentEvent) => string, end = ''): Response {
  const encoder = new TextEncoder()
  const events = run[Symbol.asyncIterator]()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await events.next()
      controller.enqueue(encoder.encode(done === true ? end : write(value)))
      if (done === true) controller.close()
    },
    async cancel() {
      await events.return?.()
    },
  })
  return new Response(body, { headers })
}
// #endregion streamed
