import type { AgentMessage, PendingApproval } from '../../../../src/index.ts'
import type { LoopRecord, Session } from '../../../../src/session.ts'
import { initialState, type MessageView, type RunState, reduce, restoredState, rewoundState, type ToolView } from '../../../../src/store.ts'

/** An agent's history and its pending calls. */
interface OpenedAgent {
  messages: readonly AgentMessage[]
  pendingApprovals(): PendingApproval[]
}

/** Returns an opened conversation's state: the agent's history, plus facts that only recorded events contain. */
export function openedState(agent: OpenedAgent, loops: readonly LoopRecord[]): RunState {
  const recorded = loops.flatMap(({ base, messages }) => [...(base?.messages ?? []), ...messages])
  const whole = new Map(recorded.map((message) => [message.id, message]))
  // A session's history references large media. The records contain the bytes.
  const messages = agent.messages.map((message) => (namesMedia(message) ? (whole.get(message.id) ?? message) : message))
  const restored = restoredState(messages, agent.pendingApprovals())
  const replayed = loops.flatMap(({ events }) => events).reduce((state, { event }) => reduce(state, event), initialState())
  const views = new Map(replayed.messages.map((view) => [view.id, view]))
  const shown = restored.messages.map((view) => withTimes(view, views.get(view.id)))
  // A call's end may be recorded without its event.
  const left = cutOff(replayed).filter(({ id }) => !shown.some((view) => view.id === id))
  const seen = left.length === 0 ? shown : [...shown.filter((view) => !isTriedAgain(view, replayed.loopId)), ...left]
  // A call may have any id, even `constructor`.
  const tools: Record<string, ToolView> = Object.create(null)
  for (const [id, tool] of Object.entries(restored.tools)) tools[id] = withStory(tool, replayed.tools[id])
  // Only events state which call sent a part.
  const { data } = rewoundState(replayed, messages)
  const ids = new Set(seen.map(({ id }) => id))
  const notes = replayed.notes.filter(({ afterMessageId }) => afterMessageId === undefined || ids.has(afterMessageId))
  return { ...restored, messages: seen, tools, data, notes, turns: replayed.turns, ...endOf(replayed) }
}

/** The response that was streaming when its page closed. It is not in the history, and the model will be called again. */
function cutOff({ live }: RunState): MessageView[] {
  return live === undefined || live.blocks.length === 0 ? [] : [{ ...live, status: 'done' }]
}

/** Returns whether the interrupted loop had retried this response, which replaces the earlier attempt. */
function isTriedAgain({ message }: MessageView, loopId: string | undefined): boolean {
  return message?.role === 'assistant' && message.stopReason === 'error' && message.turnId?.loopId === loopId
}

/** Returns how the last run ended, if it failed. */
function endOf({ status, failure, rejection, limit }: RunState): Partial<RunState> {
  if (status === 'running' || status === 'completed' || status === 'paused') return {}
  return { status, ...(failure && { failure }), ...(rejection !== undefined && { rejection }), ...(limit && { limit }) }
}

function namesMedia(message: AgentMessage): boolean {
  return (
    message.role !== 'extension' &&
    message.content.some((block) => (block.type === 'image' || block.type === 'file') && block.blob !== undefined)
  )
}

/** Returns a tree without data that is already in the page's log, mostly events and requests. */
export function outlineOf(session: Session): Session {
  const loops = session.loops.map((loop) => ({
    ...loop,
    // Branches are shown with their cost.
    events: loop.parallelGroup === undefined ? [] : loop.events.filter(({ event }) => event.type !== 'turnRequest'),
    turns: loop.turns.map(({ requestPayload: _held, ...turn }) => turn),
  }))
  return { ...session, loops }
}

/** Returns a conversation's last loop. This is the loop that started last, or the selected one among parallel branches. */
export function lastLoopOf({ loops }: Session): string | undefined {
  const last = loops.at(-1)
  return last?.parallelGroup?.selectedLoopId ?? last?.loopId
}

/** Returns the loops from the first one to `loopId`, which are the conversation without its other branches. */
export function chainOf(session: Session, loopId: string | undefined): LoopRecord[] {
  const byId = new Map(session.loops.map((loop) => [loop.loopId, loop]))
  const chain = new Set<LoopRecord>()
  let loop = byId.get(loopId ?? '') ?? byId.get(lastLoopOf(session) ?? '')
  while (loop !== undefined && !chain.has(loop)) {
    chain.add(loop)
    loop = byId.get(loop.parentLoopId ?? '')
  }
  return [...chain].reverse()
}

function withTimes(view: MessageView, heard: MessageView | undefined): MessageView {
  return heard?.status === 'done' && heard.blocks.length === view.blocks.length ? heard : view
}

function withStory(tool: ToolView, heard: ToolView | undefined): ToolView {
  if (heard === undefined || heard.toolName !== tool.toolName) return tool
  const { startedAt, durationMs, child, reason, status } = heard
  return {
    ...tool,
    ...(status === 'denied' && { status }),
    ...(startedAt !== undefined && { startedAt }),
    ...(durationMs !== undefined && { durationMs }),
    ...(reason !== undefined && { reason }),
    ...(child !== undefined && { child }),
  }
}
