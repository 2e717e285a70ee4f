import type { AgentMessage, PendingApproval } from '../../../../src/index.ts'
import type { LoopRecord, Session } from '../../../../src/session.ts'
import { initialState, type MessageView, type RunState, reduce, restoredState, type ToolView } from '../../../../src/store.ts'

/** What an agent has said: its history, and the calls that wait for a person. */
interface OpenedAgent {
  messages: readonly AgentMessage[]
  pendingApprovals(): PendingApproval[]
}

/** What the page shows of a conversation when it is opened: the history of the agent, with what only the recorded events tell of it. */
export function openedState(agent: OpenedAgent, loops: readonly LoopRecord[]): RunState {
  const recorded = loops.flatMap(({ base, messages }) => [...(base?.messages ?? []), ...messages])
  const whole = new Map(recorded.map((message) => [message.id, message]))
  // A session names large media of its history; its record has their bytes.
  const messages = agent.messages.map((message) => (namesMedia(message) ? (whole.get(message.id) ?? message) : message))
  const restored = restoredState(messages, agent.pendingApprovals())
  const replayed = loops.flatMap(({ events }) => events).reduce((state, { event }) => reduce(state, event), initialState())
  const views = new Map(replayed.messages.map((view) => [view.id, view]))
  const shown = restored.messages.map((view) => withTimes(view, views.get(view.id)))
  // Its end may be recorded, although the event of its end is not.
  const left = cutOff(replayed).filter(({ id }) => !shown.some((view) => view.id === id))
  const seen = left.length === 0 ? shown : [...shown.filter((view) => !isTriedAgain(view, replayed.loopId)), ...left]
  // A call may have any id, also constructor.
  const tools: Record<string, ToolView> = Object.create(null)
  for (const [id, tool] of Object.entries(restored.tools)) tools[id] = withStory(tool, replayed.tools[id])
  const ids = new Set(seen.map(({ id }) => id))
  const notes = replayed.notes.filter(({ afterMessageId }) => afterMessageId === undefined || ids.has(afterMessageId))
  return { ...restored, messages: seen, tools, notes, turns: replayed.turns, ...endOf(replayed) }
}

/** The answer that was being written when its page ended. It is in no history: the model is asked again. */
function cutOff({ live }: RunState): MessageView[] {
  return live === undefined || live.blocks.length === 0 ? [] : [{ ...live, status: 'done' }]
}

/** Whether the loop that was cut off had asked again for this response: what came then is in its place. */
function isTriedAgain({ message }: MessageView, loopId: string | undefined): boolean {
  return message?.role === 'assistant' && message.stopReason === 'error' && message.turnId?.loopId === loopId
}

/** How the last run ended, where it did not do what it was asked. */
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

/** A tree without what the log of the page holds already: events and requests are most of it. */
export function outlineOf(session: Session): Session {
  const loops = session.loops.map((loop) => ({
    ...loop,
    // Answers that were tried beside each other are shown with what they took.
    events: loop.parallelGroup === undefined ? [] : loop.events.filter(({ event }) => event.type !== 'turnRequest'),
    turns: loop.turns.map(({ requestPayload: _held, ...turn }) => turn),
  }))
  return { ...session, loops }
}

/** The loop that a conversation ends with: the one begun last; of branches that were tried at once, the one that was chosen. */
export function lastLoopOf({ loops }: Session): string | undefined {
  const last = loops.at(-1)
  return last?.parallelGroup?.selectedLoopId ?? last?.loopId
}

/** The loops from the first one down to `loopId`: what a conversation is made of, without its other branches. */
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
