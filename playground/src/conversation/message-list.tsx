import { type Signal, useSignal } from '@preact/signals'
import type { RefObject, VNode } from 'preact'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { Citation, Content } from '../../../src/index.ts'
import type { LoopRecord, Session } from '../../../src/session.ts'
import type { MessageView, RunState } from '../../../src/store.ts'
import { MessageData, Note, RecordedRace } from '../late/conversation-parts.tsx'
import { withoutMarks } from '../markdown/marks.ts'
import type { Misfits } from '../state/log/answer-fit.ts'
import type { CapturedTurn } from '../state/log/event-log.ts'
import type { Selection } from '../state/selection.ts'
import { useFindable } from './findable.ts'
import { Message, type MessageActions, type MessageProps } from './message.tsx'
import { useMessageWindow } from './message-window.ts'

interface MessageListProps {
  /** The scroll container. */
  box: RefObject<HTMLElement | null>
  /** Whether the list scrolls to the newest message. */
  isFollowing: Signal<boolean>
  state: RunState
  record: Session | undefined
  selection: Selection | undefined
  /** Absent if the conversation is read-only. */
  actions: MessageActions | undefined
  requests: readonly CapturedTurn[]
  misfits: Misfits
  onSelect: (selection: Selection) => void
  onBranch: (loopId: string) => void
}

/** The messages, with notes between them. Only messages near the viewport are rendered in a long conversation. */
export function MessageList(list: MessageListProps) {
  const { box, isFollowing, state, record, selection, actions, requests, misfits, onSelect, onBranch } = list
  const { messages, live, tools, approvals, inputs, notes, children: runs } = state
  const rendered = useRef(new Map<string, Rendered>())
  // Not recomputed for every delta, because there may be thousands of messages.
  const ended = useMemo(() => messages.filter(hasPlace).map(({ id }) => id), [messages])
  const written = live !== undefined && hasPlace(live) ? live.id : undefined
  const ids = useMemo(() => (written === undefined ? ended : [...ended, written]), [ended, written])
  const selected = useMemo(
    () => (selection === undefined ? undefined : messages.find((view) => isSelected(view, selection))?.id),
    [messages, selection],
  )
  const isLive = state.status === 'running'
  const data = useMemo(() => (isLive ? state.data : state.data.filter(({ transient }) => !transient)), [state.data, isLive])
  const found = useSignal<string | undefined>(undefined)
  const sought = found.value ?? selected
  const wanted = useMemo(() => (sought === undefined ? -1 : ids.indexOf(sought)), [ids, sought])
  const { from, to, before, after } = useMessageWindow({ box, ids, isFollowing, wanted })
  useFindable({ box, ids, from, to, textOf: wordsOf, onFound })
  // Use a layout effect, which runs before the browser reports a scroll. The scroll event would move the window back.
  useLayoutEffect(() => {
    if (found.value === undefined) return
    box.current?.querySelector(`[data-message="${CSS.escape(found.value)}"]`)?.scrollIntoView({ block: 'center' })
    found.value = undefined
  }, [found.value])
  const groups = useMemo(() => chosenBranches(record), [record])
  const earlier = notes.filter(({ afterMessageId }) => afterMessageId === undefined)
  // If the streaming response is tall, only this area is rendered.
  const inPage = written !== undefined && from === ended.length ? [] : stretch(messages, ids[from], ids[to])
  const used = new Set<string>()

  function onFound(id: string): void {
    isFollowing.value = false
    found.value = id
  }

  /** The text for the browser's search. */
  function wordsOf(id: string): string {
    const blocks = messages.find((view) => view.id === id)?.blocks ?? []
    return blocks.map((block) => (block.type === 'text' ? withoutMarks(block.text).replace(/[*_`~#|]/g, '') : '')).join(' ')
  }

  function render(view: MessageView): VNode {
    const calls = view.blocks.flatMap((block) => {
      if (block.type === 'serviceTool') return [tools[block.id]]
      return block.type === 'toolCall' ? [tools[block.toolCallId], runs[block.toolCallId]] : []
    })
    const isHere = isSelected(view, selection)
    used.add(view.id)
    const props: MessageProps = {
      view,
      tools,
      data,
      approvals,
      inputs,
      runs,
      isSelected: isHere,
      actions,
      find,
      misfits,
      onSelect,
      onBranch,
    }
    return once(
      rendered.current,
      view.id,
      [view, approvals, inputs, isHere, actions, misfits.get(view.id), calls.length > 0 && data, ...calls],
      () => <Message key={view.id} {...props} />,
    )
  }

  /** Cited documents precede the citation and do not change. */
  function find({ messageId, fileIndex = -1 }: NonNullable<Citation['document']>): Content | undefined {
    const message = messageId === undefined ? undefined : messages.find(({ id }) => id === messageId)?.message
    return message?.role === 'user' || message?.role === 'toolResult'
      ? message.content.filter(({ type }) => type === 'file')[fileIndex]
      : undefined
  }

  const lines = inPage.flatMap((view) => [render(view), ...between(view, groups.get(view.id))])
  const newest = live && to === ids.length ? [render(live), between(live, undefined)] : []
  for (const id of rendered.current.keys()) if (!used.has(id)) rendered.current.delete(id)
  return (
    <>
      <div class="room-before" style={{ height: `${before}px` }} aria-hidden="true" />
      {from === 0 && earlier.map((note) => <Note key={note.id} {...{ note, messages, requests }} />)}
      {lines}
      {newest}
      <div class="room-after" style={{ height: `${after}px` }} data-after aria-hidden="true" />
    </>
  )

  function between(view: MessageView, chosen: LoopRecord | undefined) {
    return [
      chosen && record && <RecordedRace key={`race ${view.id}`} record={record} loop={chosen} />,
      data.length > 0 && <MessageData key={`data ${view.id}`} {...{ view, state, data }} />,
      ...notes.filter((note) => note.afterMessageId === view.id).map((note) => <Note key={note.id} {...{ note, messages, requests }} />),
    ]
  }
}

/** The selected loop per branch, by its first message. */
function chosenBranches(record: Session | undefined): ReadonlyMap<string | undefined, LoopRecord> {
  return new Map(record?.loops.flatMap((loop) => (loop.parallelGroup?.isSelected ? [[loop.messages[0]?.id, loop] as const] : [])))
}

/** Tool results are shown in their call's card. */
function hasPlace({ role }: MessageView): boolean {
  return role === 'user' || role === 'assistant'
}

/** Returns the notes from the message `first` up to `next`. Notes before the first one with a position belong to the same group. */
function stretch(messages: readonly MessageView[], first: string | undefined, next: string | undefined): readonly MessageView[] {
  if (first === undefined) return messages
  // Search from the end, where a following reader is.
  const start = messages.findLastIndex(({ id }) => id === first)
  const end = next === undefined ? -1 : messages.findLastIndex(({ id }) => id === next)
  return messages.slice(start, end < 0 ? messages.length : end)
}

interface Rendered {
  of: readonly unknown[]
  node: VNode
}

/** Returns the same element if nothing changed, so that Preact skips it. A long conversation then costs no more than a short one. */
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
