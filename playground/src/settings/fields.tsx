import type { ComponentChildren } from 'preact'
import '../styles/fields.css'

interface FieldProps {
  label: string
  /** Its purpose, or the source of its value. */
  hint?: ComponentChildren
  children: ComponentChildren
}

/** A labeled field with a short explanation. */
export function Field({ label, hint, children }: FieldProps) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is the child.
    <label class="field">
      <span class="field-label">{label}</span>
      {children}
      {hint !== undefined && <span class="field-hint">{hint}</span>}
    </label>
  )
}

interface NumberFieldProps {
  label: string
  value: number
  least?: number
  most?: number
  step?: number | 'any'
  hint?: string
  onChange: (value: number) => void
}

/** A number field. Input that is not a number or is out of bounds changes nothing. */
export function NumberField({ label, value, least = 0, most, step = 1, hint, onChange }: NumberFieldProps) {
  return (
    <Field label={label} hint={hint}>
      <input
        type="number"
        inputMode="decimal"
        min={least}
        max={most}
        step={step}
        value={value}
        onInput={({ currentTarget }) => {
          if (currentTarget.value !== '' && currentTarget.validity.valid) onChange(currentTarget.valueAsNumber)
        }}
      />
    </Field>
  )
}

interface ChoiceProps<Name extends string> {
  label: string
  /** Values with their labels and explanations. */
  options: Readonly<Record<Name, readonly [title: string, hint: string]>>
  value: Name
  onChange: (name: Name) => void
}

/** A choice between a few values, each with a one-line explanation. */
export function Choice<Name extends string>({ label, options, value, onChange }: ChoiceProps<Name>) {
  const names = Object.keys(options) as Name[] // the keys of a record of names
  return (
    <fieldset class="choice">
      <legend class="field-label">{label}</legend>
      <div class="choice-cards">
        {names.map((name) => (
          <label key={name} class="choice-card" data-checked={name === value}>
            <input type="radio" name={label} checked={name === value} onChange={() => onChange(name)} />
            <span class="choice-title">{options[name][0]}</span>
            <span class="field-hint">{options[name][1]}</span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}

export function Check({ label, isOn, onChange }: { label: string; isOn: boolean; onChange: (isOn: boolean) => void }) {
  return (
    <label class="check">
      <input type="checkbox" checked={isOn} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
      <span>{label}</span>
    </label>
  )
}
