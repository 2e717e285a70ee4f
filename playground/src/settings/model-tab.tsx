import { keyOwnerOf } from '../models/factory-call.ts'
import { KeyField } from '../models/key-field.tsx'
import { type Service, type ServiceId, serviceIds, services } from '../models/services.ts'
import { endpoint } from '../remote/endpoint.ts'
import { serverOwner, serverUrl } from '../remote/server-url.ts'
import { Choice, Field, NumberField } from './fields.tsx'
import { ModelName } from './model-name.tsx'
import { ServiceToolFields } from './service-tool-fields.tsx'
import { type ModelChoice, type Settings, type TextPace, textPaces } from './settings.ts'

export interface TabProps {
  draft: Settings
  onChange: (draft: Settings) => void
}

const places = {
  tab: ['In this tab', 'The agent runs here; conversations stay in this browser.'],
  server: ['On a server', 'The agent runs behind createAgentApp, and keeps running after you close the page.'],
} as const

const sources = {
  scripted: ['Scripted', 'Prepared responses: no key, no network.'],
  direct: ['Your own key', 'The page calls the provider directly.'],
  proxy: ['Model proxy', 'Your server adds the key.'],
  local: ['Local server', 'Ollama, LM Studio, vLLM, llama.cpp.'],
} as const

/** The agent's place, the model and the key. */
export function ModelTab({ draft, onChange }: TabProps) {
  const choose = (part: Partial<ModelChoice>) => onChange({ ...draft, model: { ...draft.model, ...part } })
  const { place, model } = draft
  return (
    <>
      {endpoint === undefined && (
        <Choice label="Agent" options={places} value={place} onChange={(next) => onChange({ ...draft, place: next })} />
      )}
      {place === 'server' ? (
        <ServerFields draft={draft} onChange={onChange} />
      ) : (
        <>
          <Choice
            label="Model"
            options={sources}
            value={model.source}
            onChange={(source) => choose({ source, address: addressOf(source) })}
          />
          {model.source === 'scripted' ? (
            <p class="settings-note">The loop, tools, approvals and retries are real. Only the responses are scripted.</p>
          ) : (
            <RealModelFields model={model} choose={choose} />
          )}
        </>
      )}
      <Field label="Streamed text" hint="At once if your system reduces motion.">
        <select
          value={draft.textPace}
          onChange={({ currentTarget }) =>
            onChange({ ...draft, textPace: textPaces.find((pace) => pace === currentTarget.value) ?? 'off' })
          }
        >
          {textPaces.map((pace) => (
            <option key={pace} value={pace}>
              {paceWords[pace]}
            </option>
          ))}
        </select>
      </Field>
    </>
  )
}

const paceWords: Readonly<Record<TextPace, string>> = {
  off: 'as it arrives',
  word: 'word by word, at an even pace',
  line: 'line by line, at an even pace',
}

const tokenHint =
  endpoint === undefined
    ? "The token that the server's authorize expects; none on loopback."
    : 'The phi link included a token. Enter a new one only after phi restarts on this port.'

function ServerFields({ draft, onChange }: TabProps) {
  const url = serverUrl(draft)
  return (
    <>
      <Field label="Address" hint="URL of createAgentApp. If empty, the server of this page.">
        <input
          type="url"
          placeholder={location.origin}
          value={draft.serverUrl}
          onInput={({ currentTarget }) => onChange({ ...draft, serverUrl: currentTarget.value })}
        />
      </Field>
      <KeyField key={url} owner={serverOwner(url)} label="Access token" hint={tokenHint} />
      <p class="settings-note">
        Model, tools and limits are the server's, and so several set-ups cannot be compared there. Requests, and the trace after a reload,
        are as far as it shows and keeps them.
      </p>
    </>
  )
}

function RealModelFields({ model, choose }: { model: ModelChoice; choose: (part: Partial<ModelChoice>) => void }) {
  const { source, address } = model
  const service: Service = services[model.service]
  const owner = keyOwnerOf(model)
  return (
    <>
      <div class="field-row">
        {source !== 'local' && (
          <Field label="Service">
            <select
              value={model.service}
              onChange={({ currentTarget }) => {
                const next = currentTarget.value as ServiceId // one of the options below
                choose({ service: next, modelId: services[next].modelId, serviceTools: [] })
              }}
            >
              {serviceIds.map((id) => (
                <option key={id} value={id}>
                  {services[id].name}
                </option>
              ))}
            </select>
          </Field>
        )}
        <ModelName model={model} onChange={(modelId) => choose({ modelId })} />
      </div>
      <Field label="Address" hint={addressHints[source]}>
        <input
          type="url"
          spellcheck={false}
          placeholder={service.needsAddress && source === 'direct' ? 'https://my-resource.openai.azure.com' : "the service's own"}
          value={address}
          onInput={({ currentTarget }) => choose({ address: currentTarget.value })}
        />
      </Field>
      {owner !== undefined && <KeyField key={owner} owner={owner} label={keyLabels[source]} />}
      {source === 'direct' && (
        <p class="settings-note" data-access={service.access}>
          {accessNotes[service.access]}
        </p>
      )}
      <div class="field-row three">
        <NumberField
          label="Context, tokens"
          hint="0: as the SDK assumes"
          value={model.contextWindow}
          onChange={(contextWindow) => choose({ contextWindow })}
        />
        <NumberField label="USD per M in" step="any" value={model.inputPrice} onChange={(inputPrice) => choose({ inputPrice })} />
        <NumberField label="USD per M out" step="any" value={model.outputPrice} onChange={(outputPrice) => choose({ outputPrice })} />
      </div>
      <ServiceToolFields model={model} onChange={(serviceTools) => choose({ serviceTools })} />
    </>
  )
}

const accessNotes = {
  allowed: 'This provider allows calls from web pages (CORS).',
  refused: 'This provider does not allow calls from other origins, so the browser blocks them (CORS). Use a model proxy.',
  unknown: 'This provider may not allow calls from other origins. If the browser blocks a call (CORS), use a model proxy.',
}

const keyLabels: Record<ModelChoice['source'], string> = {
  scripted: '',
  direct: 'Key',
  proxy: 'Token for the proxy',
  local: 'Key, if required',
}

const addressHints: Record<ModelChoice['source'], string> = {
  scripted: '',
  direct: 'If empty, the provider’s URL. The content security policy of this page lists the allowed hosts.',
  proxy: 'URL of the proxy (createModelProxy) followed by the name of an upstream.',
  local: 'The OpenAI-compatible endpoint. If empty, Ollama’s. The server must allow this page’s origin; for Ollama, set OLLAMA_ORIGINS.',
}

function addressOf(source: ModelChoice['source']): string {
  return source === 'proxy' ? `${location.origin}/models/anthropic` : ''
}
