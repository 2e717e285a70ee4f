import { keyOwnerOf } from '../models/factory-call.ts'
import { KeyField } from '../models/key-field.tsx'
import { type Service, type ServiceId, serviceIds, services } from '../models/services.ts'
import { endpoint } from '../remote/endpoint.ts'
import { serverOwner, serverUrl } from '../remote/server-url.ts'
import { Choice, Field, NumberField } from './fields.tsx'
import { ModelName } from './model-name.tsx'
import { ServiceToolFields } from './service-tool-fields.tsx'
import type { ModelChoice, Settings } from './settings.ts'

export interface TabProps {
  draft: Settings
  onChange: (draft: Settings) => void
}

const places = {
  tab: ['In this tab', 'The agent runs here; conversations stay in this browser.'],
  server: ['On a server', 'The agent runs behind createAgentApp, and keeps running after you close the page.'],
} as const

const sources = {
  scripted: ['Scripted', 'Prepared answers: no key, no network.'],
  direct: ['Your own key', 'The page calls the service itself.'],
  proxy: ['Model proxy', 'A server of yours adds the key.'],
  local: ['Local server', 'Ollama, LM Studio, vLLM, llama.cpp.'],
} as const

/** Place of the agent, model, and key. */
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
            <p class="settings-note">The loop, the tools, approvals and retries are real. Only the answers are prepared.</p>
          ) : (
            <RealModelFields model={model} choose={choose} />
          )}
        </>
      )}
    </>
  )
}

const tokenHint =
  endpoint === undefined
    ? "What the server's authorize wants; none on loopback."
    : 'The link of phi brought one. Enter the token of a new link only if phi was started again on this port.'

function ServerFields({ draft, onChange }: TabProps) {
  const url = serverUrl(draft)
  return (
    <>
      <Field label="Address" hint="Where createAgentApp is mounted. Empty: the server that this page came from.">
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
  allowed: 'This service answers calls from pages (CORS).',
  refused: 'This service does not answer pages of other origins: the browser will refuse the call (CORS). Use a model proxy.',
  unknown:
    'This service may not answer pages of other origins. When a call fails before it leaves the browser, that is CORS: use a model proxy.',
}

const keyLabels: Record<ModelChoice['source'], string> = {
  scripted: '',
  direct: 'Key',
  proxy: 'Token for the proxy',
  local: 'Key, if it wants one',
}

const addressHints: Record<ModelChoice['source'], string> = {
  scripted: '',
  direct: 'Empty: the service’s own. The content security policy of this page lists the hosts it may call.',
  proxy: 'The proxy (createModelProxy) and the name of its upstream.',
  local: 'Empty: Ollama’s. Else its OpenAI-compatible endpoint. The server must allow this page’s origin; Ollama: OLLAMA_ORIGINS.',
}

function addressOf(source: ModelChoice['source']): string {
  return source === 'proxy' ? `${location.origin}/models/anthropic` : ''
}
