import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useRef } from 'preact/hooks'
import type { Citation, Content } from '../../../src/index.ts'
import type { LoopRecord, Session } from '../../../src/session/index.ts'
import type { MessageView, RunState } from '../../../src/store/index.ts'
import { Note } from '../notes/note.tsx'
import { count } from '../parts/figures.ts'
import { RecordedRace } from '../race/recorded-race.tsx'
import type { CapturedTurn } from '../state/event-log.ts'
import type { Selection } from '../state/selection.ts'
import { Message, type MessageActions, type MessageProps } from './message.tsx'

/** Messages that are in the page at first, and half of how many more come at once: all of them are looked at in every frame. */
const shownAtFirst = 50

interface MessageListProps {
  state: RunState
  record: Session | undefined
  selection: Selection | undefined
  /** Absent where nothing can be said or decided. */
  actions: MessageActions | undefined
  requests: readonly CapturedTurn[]
  onSelect: (selection: Selection) => void
  onBranch: (loopId: string) => void
}

/** The newest messages, with what happened between them; earlier ones on demand, or when one of them is selected. */
export function MessageList({ state, record, selection, actions, requests, onSelect, onBranch }: MessageListProps) {
  const { messages, live, tools, approvals, notes, children: runs } = state
  const wanted = useSignal(shownAtFirst)
  const rendered = useRef(new Map<string, Rendered>())
  const selected = selection === undefined ? -1 : messages.findIndex((view) => isSelected(view, selection))
  const first = Math.max(0, Math.min(messages.length - wanted.value, selected < 0 ? messages.length : selected))
  const groups = new Map(record?.loops.flatMap((loop) => (loop.parallelGroup?.isSelected ? [[loop.messages[0]?.id, loop] as const] : [])))
  const earlier = notes.filter(({ afterMessageId }) => afterMessageId === undefined)

  function render(view: MessageView): VNode {
    const calls = view.blocks.flatMap((block) => {
      if (block.type === 'serviceTool') return [tools[block.id]]
      return block.type === 'toolCall' ? [tools[block.toolCallId], runs[block.toolCallId]] : []
    })
    const isHere = isSelected(view, selection)
    const props: MessageProps = { view, tools, approvals, runs, isSelected: isHere, actions, find, onSelect, onBranch }
    return once(rendered.current, view.id, [view, approvals, isHere, actions, ...calls], () => <Message key={view.id} {...props} />)
  }

  /** What a citation names stands before it, and does not change any more. */
  function find({ messageId, fileIndex = -1 }: NonNullable<Citation['document']>): Content | undefined {
    const message = messageId === undefined ? undefined : messages.find(({ id }) => id === messageId)?.message
    return message?.role === 'user' || message?.role === 'toolResult'
      ? message.content.filter(({ type }) => type === 'file')[fileIndex]
      : undefined
  }

  return (
    <>
      {first > 0 && (
        <button type="button" class="small earlier" onClick={() => (wanted.value = messages.length - first + 2 * shownAtFirst)}>
          {count(first)} earlier messages
        </button>
      )}
      {first === 0 && earlier.map((note) => <Note key={note.id} {...{ note, messages, requests }} />)}
      {messages.slice(first).flatMap((view) => [render(view), ...between(view, groups.get(view.id))])}
      {live && render(live)}
      {live && between(live, undefined)}
    </>
  )

  function between(view: MessageView, chosen: LoopRecord | undefined) {
    return [
      chosen && record && <RecordedRace key={`race ${view.id}`} record={record} loop={chosen} />,
      ...notes.filter((note) => note.afterMessageId === view.id).map((note) => <Note key={note.id} {...{ note, messages, requests }} />),
    ]
  }
}

interface Rendered {
  of: readonly unknown[]
  node: VNode
}

/** The same element as before where nothing it shows has changed: Preact then leaves it alone. A long conversation costs as much as a short one. */
function once(rendered: Map<string, Rendered>, id: string, of: readonly unknown[], make: () => VNode): VNode {
  const before = rendered.get(id)
  if (before !== undefined && before.of.length === of.length && before.of.every((value, at) => value === of[at])) return before.node
  const node = make()
  rendered.set(id, { of, node })
  return node
}

function isSelected({ message }: MessageView, selection: Selection | undefined): boolean {
  if (message?.role !== 'assistant' || selection === undefined) return false
  return message.turnId?.loopId === selection.loopId && message.turnId.turnIndex === selection.turnIndex
}
