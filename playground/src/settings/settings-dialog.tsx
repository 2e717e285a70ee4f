import { useSignal } from '@preact/signals'
import { Dialog } from '../parts/dialog.tsx'
import type { Desk } from '../state/desk.ts'
import { ownTools } from '../tools/own/own-tool.ts'
import { OwnToolsTab } from '../tools/own/own-tools-tab.tsx'
import { keepSnippets, toolSnippets } from '../tools/own/snippets.ts'
import { AgentTab } from './agent-tab.tsx'
import { CodeTab } from './code-tab.tsx'
import { ModelTab } from './model-tab.tsx'
import './settings.css'

const tabs = { model: 'Model', agent: 'Agent', tools: 'Own tools', code: 'View code' } as const
export type SettingsTab = keyof typeof tabs

/** What can be chosen, as a draft until it is applied. Loaded when it is first opened. */
export function SettingsDialog({ desk, tab: first, onClose }: { desk: Desk; tab: SettingsTab; onClose: () => void }) {
  const draft = useSignal(desk.backend.settings.value)
  const snippets = useSignal(toolSnippets.value)
  const fault = useSignal<string | undefined>(undefined)
  const tab = useSignal(first)
  const isApplying = useSignal(false)
  const conversation = desk.current.value
  const isRunning = conversation.state.value.status === 'running'
  const asked = conversation.state.value.messages.find(({ role }) => role === 'user')?.blocks.find((block) => block.type === 'text')
  const names = Object.keys(tabs) as SettingsTab[] // the keys of the table above

  async function apply(): Promise<void> {
    try {
      ownTools(snippets.value)
    } catch (error) {
      fault.value = error instanceof Error ? error.message : String(error)
      tab.value = 'tools'
      return
    }
    isApplying.value = true
    const before = toolSnippets.value
    toolSnippets.value = snippets.value
    if (await desk.configure(draft.value)) keepSnippets()
    else toolSnippets.value = before
    onClose()
  }

  return (
    <Dialog label="Settings" class="settings" onClose={onClose}>
      <div class="settings-tabs" role="tablist" aria-label="Settings">
        {names.map((name) => (
          <button key={name} type="button" role="tab" aria-selected={tab.value === name} onClick={() => (tab.value = name)}>
            {tabs[name]}
          </button>
        ))}
      </div>
      <div class="settings-body" role="tabpanel" aria-label={tabs[tab.value]}>
        {tab.value === 'model' && <ModelTab draft={draft.value} onChange={(next) => (draft.value = next)} />}
        {tab.value === 'agent' && <AgentTab draft={draft.value} onChange={(next) => (draft.value = next)} />}
        {tab.value === 'tools' && (
          <OwnToolsTab
            snippets={snippets.value}
            isUsed={draft.value.place === 'tab' && draft.value.model.source !== 'scripted'}
            fault={fault.value}
            onChange={(next) => (snippets.value = next)}
          />
        )}
        {tab.value === 'code' && <CodeTab draft={draft.value} prompt={asked?.type === 'text' ? asked.text : undefined} />}
      </div>
      <div class="dialog-actions">
        {isRunning && desk.backend.settings.value.place === 'tab' && <p class="field-hint">Applying stops the run.</p>}
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="primary" disabled={isApplying.value} onClick={() => void apply()}>
          Apply
        </button>
      </div>
    </Dialog>
  )
}
