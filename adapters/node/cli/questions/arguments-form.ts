import { copyJson } from '../../../../src/base/json/json-value.ts'
import { escapeControls, shortened } from '../../../../src/base/text/characters.ts'
import { ownOf, setOwnField } from '../../../../src/contract/json.ts'
import type { JsonObject, JsonSchema, JsonValue } from '../../../../src/index.ts'
import { linesOf } from '../terminal/paint.ts'
import type { Screen } from '../terminal/screen.ts'
import { type FormField, fieldsOf } from './form-fields.ts'

/** Maximum length of a value shown in a prompt. */
const mostShown = 60

/**
 * Edits a call's arguments, one line each. Fields come from the tool's schema, or from the arguments if the schema is unknown. An empty
 * line keeps a value. Nested values are entered as JSON.
 */
export class ArgumentsForm {
  readonly #screen: Screen
  readonly #fields: readonly FormField[]
  readonly #args: JsonObject
  #at = 0

  constructor(screen: Screen, args: JsonObject, schema: JsonSchema | undefined) {
    this.#screen = screen
    this.#args = copyJson(args)
    this.#fields = fieldsOf({ schema: { type: 'object', ...schema, properties: propertiesOf(args, schema) } })
    this.#showField()
  }

  /** The new arguments, or `undefined` until all fields are entered. */
  get done(): JsonObject | undefined {
    return this.#at < this.#fields.length ? undefined : this.#args
  }

  get prompt(): string {
    const field = this.#fields[this.#at]
    if (field === undefined) return 'Run it with these arguments? [y/N] '
    return `${escapeControls(field.name.slice(0, mostShown))} (${field.expected})${presetOf(field.preset)}: `
  }

  /** Reads the current field's value. */
  answer(text: string): void {
    const field = this.#fields[this.#at]
    if (field === undefined) return
    const reading = field.read(text)
    if ('problem' in reading) {
      this.#screen.line(this.#screen.paint.paint('yellow', `  ${reading.problem}`))
      return
    }
    if (reading.value !== undefined) setOwnField(this.#args, field.name, reading.value)
    this.#at += 1
    this.#showField()
  }

  #showField(): void {
    const field = this.#fields[this.#at]
    if (field === undefined) return
    const { paint, plain } = this.#screen.paint
    if (field.description !== '') for (const line of linesOf(plain(field.description))) this.#screen.line(paint('dim', `  ${line}`))
    for (const [at, { title }] of field.choices.entries()) this.#screen.line(plain(`  ${String(at + 1).padStart(2)}  ${title}`))
  }
}

/** The form's properties, each with its current value as default. */
function propertiesOf(args: JsonObject, schema: JsonSchema | undefined): JsonObject {
  const known: JsonObject = Object(schema?.properties)
  const names = [...new Set([...Object.keys(known), ...Object.keys(args)])]
  return Object.fromEntries(
    names.map((name) => {
      const value = ownOf(args, name)
      const form: JsonObject = Object(ownOf(known, name) ?? { type: typeof value })
      const { default: _default, ...rest } = form
      return [name, { ...rest, ...(value !== undefined && { default: value }) }]
    }),
  )
}

function presetOf(value: JsonValue | undefined): string {
  if (value === undefined) return ''
  const text = escapeControls(typeof value === 'string' && !value.includes('\n') ? value : JSON.stringify(value))
  return ` [${shortened(text, mostShown)}]`
}
