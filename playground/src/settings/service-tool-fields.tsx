import { serviceToolKit } from '../models/service-tools.ts'
import { Check } from './fields.tsx'
import type { ModelChoice } from './settings.ts'

interface ServiceToolFieldsProps {
  model: ModelChoice
  onChange: (serviceTools: readonly string[]) => void
}

/** The selected provider's provider-executed tools. Renders nothing if it has none. */
export function ServiceToolFields({ model, onChange }: ServiceToolFieldsProps) {
  const kit = serviceToolKit(model)
  if (kit === undefined) return null
  const { serviceTools } = model
  return (
    <fieldset class="choice">
      <legend class="field-label">Provider tools</legend>
      <div class="checks">
        {Object.entries(kit.tools).map(([name, label]) => (
          <Check
            key={name}
            label={label}
            isOn={serviceTools.includes(name)}
            onChange={(isOn) => onChange(isOn ? [...serviceTools, name] : serviceTools.filter((other) => other !== name))}
          />
        ))}
      </div>
      <p class="field-hint">The provider runs these tools without approval and may charge per call. Not every model supports every tool.</p>
    </fieldset>
  )
}
