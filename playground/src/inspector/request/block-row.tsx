import { useSignal } from '@preact/signals'
import { escapeControls } from '../../../../src/store.ts'
import { short } from '../../parts/figures.ts'
import { scrollable } from '../../parts/scrollable.ts'
import type { RequestBlock } from './request-blocks.ts'

/** A block of a request with its origin, size and start. Expandable. */
export function BlockRow({ block }: { block: RequestBlock }) {
  const isOpen = useSignal(false)
  const isJson = useSignal(false)
  const { number, origin, detail, role, text, gist, tokens, isSent, isCommon, isBreak, json } = block
  return (
    <li class="block-row" data-testid="request-block" data-cached={isCommon} data-break={isBreak}>
      <details onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
        <summary>
          <span class="block-number">#{number}</span>
          <span class="origin" data-origin={origin} title={detail}>
            {origin}
          </span>
          <span class="block-text">{escapeControls(gist)}</span>
          {isBreak && <span class="badge warn">breaks here</span>}
          <span class="number">{isSent ? `${short(tokens)} tok` : 'not sent'}</span>
        </summary>
        {isOpen.value && (
          <div class="block-body">
            <p class="soft">
              {role}
              {detail === '' ? '' : ` · ${detail}`}
              {isSent && ` · ${isCommon ? 'sent before at this place: a cache can serve it' : 'new at this place'}`}
              <button type="button" class="link" aria-pressed={isJson.value} onClick={() => (isJson.value = !isJson.value)}>
                {isJson.value ? 'text' : 'JSON'}
              </button>
            </p>
            <pre {...scrollable}>{escapeControls(isJson.value ? JSON.stringify(json, undefined, 2) : text)}</pre>
          </div>
        )}
      </details>
    </li>
  )
}
