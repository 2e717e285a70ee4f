import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { Span } from '../../state/log/trace.ts'
import type { Selection } from '../../state/selection.ts'
import type { TabProps } from '../tab-props.ts'
import { RequestGlance } from './request-glance.tsx'
import { startsFolded, traceRows } from './trace-rows.ts'
import { Waterfall } from './waterfall.tsx'

/** A timeline of loops, turns, model calls, tools and waits. Below it, a summary of the selected turn's request. */
export function TraceTab({ appState, conversation }: TabProps) {
  const { log } = conversation
  // Rows that the user expanded or collapsed. Other rows have their default state.
  const choices = useSignal<ReadonlySet<string>>(new Set())
  const turned = choices.value
  const version = log.version.value
  const isFolded = (span: Span, siblings: number) => startsFolded(span, siblings) !== turned.has(span.id)
  const rows = useMemo(() => traceRows(log.trace.roots, isFolded), [version, turned])
  const selection = appState.selection.value

  function turn(span: Span): void {
    const next = new Set(turned)
    if (!next.delete(span.id)) next.add(span.id)
    choices.value = next
  }

  return (
    <>
      <Waterfall
        rows={rows}
        now={log.events.at(-1)?.at ?? 0}
        isSelected={(span) => isTarget(span, selection)}
        isFolded={({ span, siblings }) => isFolded(span, siblings)}
        isFollowing={selection === undefined && conversation.state.value.status === 'running'}
        onSelect={(span) => appState.select(span.target)}
        onFold={turn}
      />
      <RequestGlance requests={log.requests} selection={selection} onOpen={() => appState.showTab('request')} />
    </>
  )
}

function isTarget({ target, kind }: Span, selection: Selection | undefined): boolean {
  if (target === undefined || selection === undefined || kind === 'loop') return false
  const isCall = selection.toolCallId !== undefined
  if (target.loopId !== selection.loopId || target.turnIndex !== selection.turnIndex) return false
  return isCall ? target.toolCallId === selection.toolCallId : kind === 'turn'
}
