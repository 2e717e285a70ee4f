import { useSignal } from '@preact/signals'
import type { InputAnswer, PendingInput } from '../../../src/index.ts'
import { escapeControls } from '../../../src/store.ts'
import { errorText } from '../parts/error-text.ts'
import type { Decisions } from './decisions.ts'
import { contentOf, fieldsOf, type QuestionField } from './question-fields.ts'
import '../styles/fields.css'

/** An input request from a running call, as a form for its schema or as a URL. Its content is untrusted. */
export function QuestionCard({ question, decisions }: { question: PendingInput; decisions: Decisions | undefined }) {
  const { toolName, subAgent, message, url, problem } = question
  const fields = fieldsOf(question)
  const fault = useSignal('')

  /** The form disappears when submitted, so the focus moves to the call. */
  function answer(element: HTMLElement, given: InputAnswer): void {
    element.closest('details')?.querySelector('summary')?.focus()
    decisions?.answer(question, given)
  }

  function onSubmit(event: SubmitEvent & { currentTarget: HTMLFormElement }): void {
    event.preventDefault()
    try {
      const content = contentOf(fields, new FormData(event.currentTarget))
      if (url !== undefined) open(url, '_blank', 'noopener,noreferrer')
      answer(event.currentTarget, url === undefined && fields.length > 0 ? { action: 'accept', content } : { action: 'accept' })
    } catch (error) {
      fault.value = `Enter valid JSON: ${errorText(error)}`
    }
  }

  return (
    <form class="question" data-testid="question" onSubmit={onSubmit}>
      <p class="tool-label">{escapeControls(subAgent === undefined ? toolName : `${subAgent.toolName}: ${toolName}`)} asks you</p>
      <p class="question-text">{escapeControls(message)}</p>
      {url !== undefined && <pre class="address">{escapeControls(url)}</pre>}
      {fields.map((field) => (
        <QuestionInput key={field.name} field={field} />
      ))}
      {(problem !== undefined || fault.value !== '') && (
        <p class="message-error" role="alert">
          {fault.value || `Your answer was not accepted: ${escapeControls(problem ?? '')}`}
        </p>
      )}
      {decisions !== undefined && (
        <div class="tool-actions">
          {(url === undefined || isWebAddress(url)) && (
            <button type="submit" class="primary">
              {url !== undefined ? 'Open in a new tab' : fields.length > 0 ? 'Answer' : 'Agree'}
            </button>
          )}
          <button type="button" onClick={({ currentTarget }) => answer(currentTarget, { action: 'decline' })}>
            Decline
          </button>
        </div>
      )}
    </form>
  )
}

/** Only web pages are opened. */
function isWebAddress(url: string): boolean {
  return /^https?:$/.test(URL.parse(url)?.protocol ?? '')
}

/** The input for one value. */
export function QuestionInput({ field }: { field: QuestionField }) {
  const { name, title, description, kind, choices, isNeeded, preset, bounds } = field
  const label = escapeControls(title)
  const hint = description === '' ? null : <span class="field-hint">{escapeControls(description)}</span>
  if (kind === 'check') {
    return (
      <label class="check">
        <input type="checkbox" name={name} defaultChecked={preset === true} />
        <span>
          {label} {hint}
        </span>
      </label>
    )
  }
  if (kind === 'several') {
    return (
      <fieldset class="choice">
        <legend class="field-label">{label}</legend>
        {hint}
        {choices.map((choice, at) => (
          <label key={at} class="check">
            <input type="checkbox" name={name} value={at} defaultChecked={Array.isArray(preset) && preset.includes(choice.value)} />
            <span>{escapeControls(choice.title)}</span>
          </label>
        ))}
      </fieldset>
    )
  }
  const shown = preset === undefined ? '' : typeof preset === 'string' ? preset : JSON.stringify(preset)
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is in it.
    <label class="field">
      <span class="field-label">
        {label}
        {!isNeeded && <span class="soft"> (optional)</span>}
      </span>
      {kind === 'one' ? (
        <select name={name} required={isNeeded}>
          <option value="">–</option>
          {choices.map((choice, at) => (
            <option key={at} value={at} selected={choice.value === preset}>
              {escapeControls(choice.title)}
            </option>
          ))}
        </select>
      ) : kind === 'json' || kind === 'lines' ? (
        <textarea name={name} rows={kind === 'json' ? 3 : 8} required={isNeeded} spellcheck={false} defaultValue={shown} />
      ) : kind === 'number' ? (
        <input type="number" name={name} required={isNeeded} defaultValue={shown} {...bounds} />
      ) : (
        <input type="text" name={name} required={isNeeded} defaultValue={shown} {...bounds} />
      )}
      {hint}
    </label>
  )
}
