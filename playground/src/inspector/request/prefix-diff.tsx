import { useMemo } from 'preact/hooks'
import { diffTurnRequests, type RequestBreak } from '../../../../src/context.ts'
import type { Message } from '../../../../src/index.ts'
import { escapeControls } from '../../../../src/store.ts'
import { plural, short } from '../../parts/figures.ts'
import type { CapturedTurn } from '../../state/log/event-log.ts'
import { originOf } from './request-blocks.ts'

/** Compares a request with the previous one: the common prefix and the first difference. */
export function PrefixDiff({ previous, turn }: { previous: CapturedTurn | undefined; turn: CapturedTurn }) {
  const diff = useMemo(() => previous && diffTurnRequests(previous.request, turn.request), [previous, turn])
  if (diff === undefined) return null
  const { firstChange, commonMessages, commonTokens } = diff
  if (firstChange === undefined) {
    const added = turn.request.messages.length - commonMessages
    return (
      <p class="prefix whole" data-testid="prefix" data-status="whole">
        Prefix kept: {plural(commonMessages, 'message')}, about {short(commonTokens)} tok as before; {added} new at the end.
      </p>
    )
  }
  return (
    <div class="prefix broken" data-testid="prefix" data-status="broken">
      <p>
        <strong>Prefix broken by {placeOf(firstChange, turn.request.messages)}.</strong> What comes after about {short(commonTokens)} tok is
        read anew.
      </p>
      {firstChange.before !== undefined && <Side name="before" text={firstChange.before} />}
      {firstChange.after !== undefined && <Side name="now" text={firstChange.after} />}
    </div>
  )
}

function Side({ name, text }: { name: 'before' | 'now'; text: string }) {
  return (
    <p class="diff-side" data-side={name}>
      <span class="soft">{name}</span> <code>{escapeControls(text)}</code>
    </p>
  )
}

const parts: Readonly<Record<RequestBreak['part'], string>> = {
  model: 'the model',
  settings: 'the settings',
  systemPrompt: 'the system prompt',
  tools: 'the tools',
  messages: 'the messages',
}

function placeOf({ part, index, blockIndex, reason, provenance }: RequestBreak, messages: readonly Message[]): string {
  const message = index === undefined ? undefined : messages[index]
  const where =
    index === undefined
      ? parts[part]
      : `${part === 'messages' ? 'message' : 'tool'} ${index}${blockIndex === undefined ? '' : `, block ${blockIndex}`}`
  return `${where} (${reason}${provenance === undefined ? '' : `, ${originOf(provenance, message ?? { role: 'user' }).origin}`})`
}
