import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ModelList } from '../models/list-models.ts'
import { plural } from '../parts/figures.ts'
import { Field } from './fields.tsx'
import type { ModelChoice } from './settings.ts'

interface ModelNameProps {
  model: ModelChoice
  onChange: (modelId: string) => void
}

/** The model's name, with suggestions from the SDK's catalogue and from the provider. Asking the provider also verifies the key. */
export function ModelName({ model, onChange }: ModelNameProps) {
  const known = useSignal<readonly string[]>([])
  const asked = useSignal<ModelList | 'asking' | undefined>(undefined)
  const { source, service, address } = model

  useEffect(() => {
    asked.value = undefined
    void import('../models/known-models.ts').then(({ knownModels }) => {
      known.value = knownModels(model)
    })
  }, [source, service, address])

  async function ask(): Promise<void> {
    asked.value = 'asking'
    const { listModels } = await import('../models/list-models.ts')
    asked.value = await listModels(model)
    if (asked.value.isThere) known.value = asked.value.ids
  }

  return (
    <div class="model-name-field">
      <Field label="Model">
        <input
          type="text"
          spellcheck={false}
          list="known-models"
          value={model.modelId}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      </Field>
      <datalist id="known-models">
        {known.value.map((id) => (
          <option key={id} value={id} />
        ))}
      </datalist>
      <button type="button" class="small" disabled={asked.value === 'asking'} onClick={() => void ask()}>
        Ask the service
      </button>
      <p class="field-hint" data-testid="model-list">
        {listText(asked.value)}
      </p>
    </div>
  )
}

function listText(asked: ModelList | 'asking' | undefined): string {
  if (asked === undefined) return 'Listing the models tests the key and uses no tokens.'
  if (asked === 'asking') return 'Asking…'
  return asked.isThere ? `It works: ${plural(asked.ids.length, 'model')}.` : asked.why
}
