import { useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { McpCompletion, McpMentions } from '../../../adapters/mcp/index.ts'
import { escapeControls } from '../../../src/store.ts'
import { isComposing } from '../palette/composing.ts'
import { plural } from '../parts/figures.ts'
import '../styles/conversation/suggestions.css'

const listId = 'suggestions'
const optionId = (at: number) => `${listId}-${at}`

/** The message field. Its completions belong to it, so its keys control them. */
const fieldOf = () => document.querySelector<HTMLTextAreaElement>('textarea#composer')

/**
 * Completes MCP server prompts and resources in the message field. The field keeps the focus and names the active option, as in a combobox.
 * A `textarea` must not have that role, so a status text says that there are suggestions.
 */
export function Suggestions({ mentions }: { mentions: McpMentions }) {
  const shown = useSignal<McpCompletion | undefined>(undefined)
  /** -1 if none is active. Enter then sends the message. */
  const active = useSignal(-1)
  /** The text before the cursor for which the visitor has closed the list. */
  const closedFor = useRef<string | undefined>(undefined)

  function look(): void {
    const field = fieldOf()
    const before = field === null || field !== document.activeElement ? '' : field.value.slice(0, field.selectionEnd)
    const isOpen = before !== '' && before !== closedFor.current && field?.selectionStart === field?.selectionEnd && !field?.readOnly
    const next = isOpen ? mentions.complete(before) : undefined
    if (textsOf(next) === textsOf(shown.value)) return
    shown.value = next
    active.value = -1
  }

  function close(): void {
    closedFor.current = fieldOf()?.value.slice(0, fieldOf()?.selectionEnd)
    look()
  }

  function take(at: number): void {
    const [field, option] = [fieldOf(), shown.value?.options[at]]
    if (field === null || option === undefined || shown.value === undefined) return
    field.setRangeText(option.text, shown.value.from, field.selectionEnd, 'end')
    field.dispatchEvent(new InputEvent('input', { bubbles: true }))
    field.focus()
  }

  function onKeyDown(event: KeyboardEvent): void {
    const options = shown.value?.options ?? []
    if (options.length === 0 || isComposing(event) || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const at = active.value
    if (by !== undefined) active.value = at < 0 && by < 0 ? options.length - 1 : (at + by + options.length) % options.length
    else if (event.key === 'Tab') take(Math.max(0, at))
    else if (event.key === 'Enter' && at >= 0) take(at)
    else if (event.key === 'Escape') close()
    else return
    event.preventDefault()
    event.stopImmediatePropagation()
  }

  useEffect(() => {
    const field = fieldOf()
    if (field === null) return
    field.setAttribute('aria-autocomplete', 'list')
    // Capture the event before the field's own key handler, in which Enter sends and Escape stops the agent.
    field.addEventListener('keydown', onKeyDown, { capture: true })
    const events = ['input', 'keyup', 'click', 'focus', 'blur']
    for (const event of events) field.addEventListener(event, look)
    const stop = mentions.subscribe(look)
    return () => {
      stop()
      field.removeAttribute('aria-autocomplete')
      field.removeEventListener('keydown', onKeyDown, { capture: true })
      for (const event of events) field.removeEventListener(event, look)
      shown.value = undefined
      active.value = -1
    }
  }, [mentions])

  useSignalEffect(() => {
    set('aria-controls', shown.value && listId)
    set('aria-activedescendant', active.value < 0 ? undefined : optionId(active.value))
  })

  const options = shown.value?.options ?? []
  return (
    <>
      <p class="visually-hidden" role="status">
        {options.length > 0 && `${plural(options.length, 'suggestion')}. Arrow keys select one, Tab takes it.`}
      </p>
      {options.length > 0 && (
        <div id={listId} role="listbox" aria-label="Suggestions" class="suggestions" tabIndex={-1}>
          {options.map(({ text, description }, at) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys.
            <div
              key={text}
              id={optionId(at)}
              role="option"
              tabIndex={-1}
              aria-selected={at === active.value}
              class="suggestion"
              ref={at === active.value ? (element) => element?.scrollIntoView({ block: 'nearest' }) : null}
              // The field keeps the focus.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => take(at)}
            >
              <code>{escapeControls(text.trim())}</code>
              {description !== undefined && <span class="suggestion-about">{escapeControls(description)}</span>}
            </div>
          ))}
        </div>
      )}
    </>
  )
}

function set(name: string, value: string | undefined): void {
  if (value === undefined) fieldOf()?.removeAttribute(name)
  else fieldOf()?.setAttribute(name, value)
}

function textsOf(completion: McpCompletion | undefined): string {
  return completion === undefined ? '' : JSON.stringify([completion.from, ...completion.options.map(({ text }) => text)])
}
