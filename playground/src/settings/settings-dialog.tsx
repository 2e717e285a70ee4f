import { useSignal } from '@preact/signals'
import { Dialog } from '../parts/dialog.tsx'
import { errorText } from '../parts/error-text.ts'
import type { AppState } from '../state/app/app-state.ts'
import { ownTools } from '../tools/own/own-tool.ts'
import { OwnToolsTab } from '../tools/own/own-tools-tab.tsx'
import { keepSnippets, toolSnippets } from '../tools/own/snippets.ts'
import { AgentTab } from './agent-tab.tsx'
import { CodeTab } from './code-tab.tsx'
import { ModelTab } from './model-tab.tsx'
import type { Settings } from './settings.ts'
import { draft } from './settings-draft.ts'
import { tellOfChanges } from './unapplied.ts'
import './settings.css'

const tabs = { model: 'Model', agent: 'Agent', tools: 'Own tools', code: 'View code' } as const
export type SettingsTab = keyof typeof tabs

/** Edits a draft of the settings until it is applied. Loaded when first opened. */
export function SettingsDialog({ appState, tab: first, onClose }: { appState: AppState; tab: SettingsTab; onClose: () => void }) {
  const { settings: chosen = appState.backend.settings.value, snippets: written = toolSnippets.value } = draft.value
  const isKept = useSignal(Object.keys(draft.value).length > 0)
  const change = (settings: Settings) => (draft.value = { ...draft.value, settings })
  const fault = useSignal<string | undefined>(undefined)
  const tab = useSignal(first)
  const isApplying = useSignal(false)
  const conversation = appState.current.value
  const isRunning = conversation.state.value.status === 'running'
  const asked = conversation.state.value.messages.find(({ role }) => role === 'user')?.blocks.find((block) => block.type === 'text')
  const names = Object.keys(tabs) as SettingsTab[] // the keys of the table above

  async function apply(): Promise<void> {
    fault.value = undefined
    try {
      ownTools(written)
    } catch (error) {
      fault.value = errorText(error)
      tab.value = 'tools'
      return
    }
    isApplying.value = true
    const before = toolSnippets.value
    toolSnippets.value = written
    const isUsed = await appState.configure(chosen)
    isApplying.value = false
    if (isUsed) {
      keepSnippets()
      drop()
      return
    }
    // The input stays, so that it can be corrected.
    toolSnippets.value = before
    fault.value = appState.notices.list.value.find(({ topic }) => topic === 'settings')?.text
  }

  function drop(): void {
    draft.value = {}
    leave()
  }

  function leave(): void {
    tellOfChanges(appState.notices)
    onClose()
  }

  return (
    <Dialog label="Settings" class="settings" onClose={leave}>
      <div class="settings-tabs" role="tablist" aria-label="Settings">
        {names.map((name) => (
          <button key={name} type="button" role="tab" aria-selected={tab.value === name} onClick={() => (tab.value = name)}>
            {tabs[name]}
          </button>
        ))}
      </div>
      <div class="settings-body" role="tabpanel" aria-label={tabs[tab.value]}>
        {tab.value === 'model' && <ModelTab draft={chosen} onChange={change} />}
        {tab.value === 'agent' && <AgentTab draft={chosen} onChange={change} />}
        {tab.value === 'tools' && (
          <OwnToolsTab
            snippets={written}
            isUsed={chosen.place === 'tab' && chosen.model.source !== 'scripted'}
            onChange={(snippets) => (draft.value = { ...draft.value, snippets })}
          />
        )}
        {tab.value === 'code' && <CodeTab draft={chosen} prompt={asked?.type === 'text' ? asked.text : undefined} />}
      </div>
      {fault.value !== undefined && (
        <p class="message-error" role="alert">
          {fault.value}
        </p>
      )}
      <div class="dialog-actions">
        {isKept.value && <p class="field-hint">These changes are not applied yet. Cancel discards them.</p>}
        {isRunning && appState.backend.settings.value.place === 'tab' && (
          <p class="field-hint">The run continues. Changes apply from the next response.</p>
        )}
        <button type="button" onClick={drop}>
          Cancel
        </button>
        <button type="button" class="primary" disabled={isApplying.value} onClick={() => void apply()}>
          Apply
        </button>
      </div>
    </Dialog>
  )
}
