import { useSignal } from '@preact/signals'
import { thinkingLevels } from '../../../src/index.ts'
import { voiceIds } from '../demo/race.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { Field } from '../settings/fields.tsx'
import type { Settings } from '../settings/settings.ts'
import type { AppState } from '../state/app/app-state.ts'
import { contestOf, type Entry, type JudgeName, judges } from './contest.ts'
import '../settings/settings.css'

/** Selects 2 to 4 configurations that respond to one prompt side by side. */
export function CompareDialog({ appState, onClose }: { appState: AppState; onClose: () => void }) {
  const settings = appState.backend.settings.value
  const { chat, draft } = appState.current.value
  const isScripted = settings.model.source === 'scripted'
  const entries = useSignal<readonly Entry[]>(firstEntries(settings))
  const judge = useSignal<JudgeName>('model')
  const prompt = useSignal(draft.text.value.trim() || (isScripted ? 'Sum up the week in one sentence.' : ''))
  const change = (at: number, part: Partial<Entry>) => {
    entries.value = entries.value.map((entry, index) => (index === at ? { ...entry, ...part } : entry))
  }

  /** The text goes back to the composer if no comparison starts. */
  function write(text: string): void {
    prompt.value = text
    draft.text.value = text
  }

  function start(): void {
    const [configurations, chosen] = [entries.value, judge.value]
    const run = chat.compare?.(() => contestOf(configurations, chosen, settings))
    onClose()
    if (run === undefined) return
    draft.text.value = ''
    appState.race(prompt.value.trim(), run)
  }

  return (
    <Dialog label="Compare" class="settings compare" onClose={onClose}>
      <Field label="Prompt">
        <textarea rows={2} value={prompt.value} onInput={({ currentTarget }) => write(currentTarget.value)} />
      </Field>
      <ol class="entries" aria-label="Configurations">
        {entries.value.map(({ model, thinking }, at) => (
          <li key={at}>
            <span class="entry-number">{at + 1}</span>
            {isScripted ? (
              <select
                aria-label={`Model ${at + 1}`}
                value={model.modelId}
                onChange={({ currentTarget }) => change(at, { model: { ...model, modelId: currentTarget.value } })}
              >
                {voiceIds.map((id) => (
                  <option key={id}>{id}</option>
                ))}
              </select>
            ) : (
              <input
                type="text"
                spellcheck={false}
                aria-label={`Model ${at + 1}`}
                value={model.modelId}
                onInput={({ currentTarget }) => change(at, { model: { ...model, modelId: currentTarget.value } })}
              />
            )}
            <select
              aria-label={`Thinking ${at + 1}`}
              value={thinking}
              onChange={({ currentTarget }) =>
                change(at, { thinking: thinkingLevels.find((level) => level === currentTarget.value) ?? 'off' })
              }
            >
              {thinkingLevels.map((level) => (
                <option key={level} value={level}>
                  thinking: {level}
                </option>
              ))}
            </select>
            <IconButton
              icon="close"
              label={`Remove configuration ${at + 1}`}
              isDisabled={entries.value.length <= 2}
              onClick={() => (entries.value = entries.value.filter((_, index) => index !== at))}
            />
          </li>
        ))}
      </ol>
      <div class="field-row">
        <button
          type="button"
          class="small"
          disabled={entries.value.length >= 4}
          onClick={() => (entries.value = [...entries.value, nextEntry(entries.value, settings)])}
        >
          <Icon name="plus" />
          Configuration
        </button>
        <label class="judge">
          <span class="soft">Chosen by</span>
          <select
            value={judge.value}
            onChange={({ currentTarget }) => (judge.value = currentTarget.value as JudgeName)} // one of the options below
          >
            {Object.entries(judges).map(([name, title]) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </label>
      </div>
      <p class="settings-note">
        {isScripted
          ? 'The models and the judge are scripted. The branches, their timings and the choice are real.'
          : 'The model of the first configuration is the judge. The conversation continues with its choice; the other responses stay in the tree.'}
      </p>
      <div class="dialog-actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="primary" disabled={prompt.value.trim() === ''} onClick={start}>
          Compare
        </button>
      </div>
    </Dialog>
  )
}

function firstEntries(settings: Settings): Entry[] {
  const { model, thinking } = settings
  if (model.source === 'scripted') return voiceIds.slice(0, 3).map((modelId) => ({ model: { ...model, modelId }, thinking }))
  return [
    { model, thinking: 'off' },
    { model, thinking: thinking === 'off' ? 'low' : thinking },
  ]
}

function nextEntry(entries: readonly Entry[], { model, thinking }: Settings): Entry {
  const used = entries.map((entry) => entry.model.modelId)
  const modelId = model.source === 'scripted' ? (voiceIds.find((id) => !used.includes(id)) ?? 'demo-exact') : model.modelId
  return { model: { ...model, modelId }, thinking }
}
