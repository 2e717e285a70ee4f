import { Field, NumberField } from './fields.tsx'
import { type RequestChoice, toolChoices, toolChoiceWords } from './settings.ts'

interface RequestFieldsProps {
  request: RequestChoice
  onChange: (part: Partial<RequestChoice>) => void
}

/** Request settings. Unsupported settings are omitted, and the page states this. */
export function RequestFields({ request, onChange }: RequestFieldsProps) {
  const { maxTokens, temperature, stop, toolChoice, schema } = request
  return (
    <fieldset class="choice">
      <legend class="field-label">Each request</legend>
      <div class="field-row three">
        <NumberField
          label="Output limit, tokens"
          hint="0: the model's"
          value={maxTokens}
          onChange={(next) => onChange({ maxTokens: next })}
        />
        <Field label="Temperature" hint="Empty: provider default">
          <input
            type="number"
            inputMode="decimal"
            min={0}
            max={2}
            step="any"
            value={temperature ?? ''}
            onInput={({ currentTarget }) => {
              if (currentTarget.validity.valid)
                onChange({ temperature: currentTarget.value === '' ? undefined : currentTarget.valueAsNumber })
            }}
          />
        </Field>
        <Field label="Tool choice">
          <select
            value={toolChoice}
            onChange={({ currentTarget }) =>
              onChange({ toolChoice: toolChoiceWords.find((name) => name === currentTarget.value) ?? 'auto' })
            }
          >
            {toolChoiceWords.map((name) => (
              <option key={name} value={name}>
                {toolChoices[name]}
              </option>
            ))}
          </select>
        </Field>
      </div>
      <Field label="Stop sequences" hint="One per line, at most four">
        <textarea
          rows={2}
          value={stop.join('\n')}
          onInput={({ currentTarget }) => onChange({ stop: currentTarget.value.split('\n').filter(Boolean).slice(0, 4) })}
        />
      </Field>
      <Field label="Response schema" hint="JSON Schema. If empty, text. If the provider cannot enforce it, a tool returns the response.">
        <textarea rows={3} spellcheck={false} value={schema} onInput={({ currentTarget }) => onChange({ schema: currentTarget.value })} />
      </Field>
    </fieldset>
  )
}
