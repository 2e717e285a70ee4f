import { useSignal } from '@preact/signals'
import type { JsonObject, JsonSchema, PendingApproval } from '../../../src/index.ts'
import { errorText } from '../parts/error-text.ts'
import { QuestionInput } from './question-card.tsx'
import { contentOf, fieldsOf, type QuestionField } from './question-fields.ts'
import '../styles/fields.css'

interface EditArgumentsProps {
  request: PendingApproval
  /** The tool's parameters, if this page knows them. */
  schema: JsonSchema | undefined
  /** Approves the call with these arguments. The form stays if they are rejected. */
  onApprove: (form: HTMLElement, args: JsonObject) => void
  onCancel: () => void
}

/** A form for the arguments of a call that requires approval. The card still shows the model's arguments above it. */
export function EditArguments({ request: { args }, schema, onApprove, onCancel }: EditArgumentsProps) {
  const fields = argumentFields(args, schema)
  const fault = useSignal('')

  function onSubmit(event: SubmitEvent & { currentTarget: HTMLFormElement }): void {
    event.preventDefault()
    try {
      onApprove(event.currentTarget, contentOf(fields, new FormData(event.currentTarget)))
    } catch (error) {
      fault.value = `This must be JSON: ${errorText(error)}`
    }
  }

  return (
    <form class="question" data-testid="edit-arguments" onSubmit={onSubmit}>
      {fields.map((field) => (
        <QuestionInput key={field.name} field={field} />
      ))}
      {fault.value !== '' && (
        <p class="message-error" role="alert">
          {fault.value}
        </p>
      )}
      <div class="tool-actions">
        <button type="submit" class="primary">
          Approve these arguments
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  )
}

/** Returns the fields of the schema and of additional arguments, each with its current value. */
function argumentFields(args: JsonObject, schema: JsonSchema | undefined): QuestionField[] {
  const known: JsonObject = Object(schema?.properties)
  const names = [...new Set([...Object.keys(known), ...Object.keys(args)])]
  const properties = names.map((name) => {
    const value = Object.hasOwn(args, name) ? args[name] : undefined
    const { default: _default, ...form }: JsonObject = Object.hasOwn(known, name) ? Object(known[name]) : { type: typeof value }
    return [name, { ...form, ...(value !== undefined && { default: value }) }]
  })
  const fields = fieldsOf({ schema: { type: 'object', ...schema, properties: Object.fromEntries(properties) } })
  // A single-line input would drop line breaks.
  return fields.map((field) =>
    field.kind === 'text' && typeof field.preset === 'string' && field.preset.includes('\n') ? { ...field, kind: 'lines' } : field,
  )
}
