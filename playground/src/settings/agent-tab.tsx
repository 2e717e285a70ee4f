import { thinkingLevels } from '../../../src/index.ts'
import { McpFields } from '../mcp/mcp-fields.tsx'
import { Check, Field, NumberField } from './fields.tsx'
import type { TabProps } from './model-tab.tsx'
import { RequestFields } from './request-fields.tsx'
import { type Settings, toolNames } from './settings.ts'
import { workspaceNote } from './workspace-note.ts'

/** The agent's instructions, permissions and limits. */
export function AgentTab({ draft, onChange }: TabProps) {
  const { tools, limits, compaction, thinking } = draft
  const change = (part: Partial<Settings>) => onChange({ ...draft, ...part })
  const isScripted = draft.model.source === 'scripted'
  return (
    <>
      {isScripted && <p class="settings-note">Scenarios use their own prompt, tools and context. Thinking and limits apply to them too.</p>}
      <Field label="System prompt">
        <textarea
          rows={3}
          disabled={isScripted}
          value={draft.systemPrompt}
          onInput={({ currentTarget }) => change({ systemPrompt: currentTarget.value })}
        />
      </Field>
      <fieldset class="choice" disabled={isScripted}>
        <legend class="field-label">Tools</legend>
        <div class="checks">
          {toolNames.map((name) => (
            <Check
              key={name}
              label={name}
              isOn={tools.includes(name)}
              onChange={(isOn) => change({ tools: toolNames.filter((other) => (other === name ? isOn : tools.includes(other))) })}
            />
          ))}
        </div>
        <Check
          label="Ask me before a tool writes"
          isOn={draft.asksBeforeWriting}
          onChange={(asksBeforeWriting) => change({ asksBeforeWriting })}
        />
        {workspaceNote.value !== '' && <p class="field-hint">{workspaceNote.value}</p>}
        <McpFields servers={draft.mcpServers} onChange={(mcpServers) => change({ mcpServers })} />
      </fieldset>
      <div class="field-row three">
        <Field label="Thinking">
          <select
            value={thinking}
            onChange={({ currentTarget }) => change({ thinking: thinkingLevels.find((level) => level === currentTarget.value) ?? 'off' })}
          >
            {thinkingLevels.map((level) => (
              <option key={level}>{level}</option>
            ))}
          </select>
        </Field>
        <NumberField
          label="Most turns"
          least={1}
          value={limits.maxTurns}
          onChange={(maxTurns) => change({ limits: { ...limits, maxTurns } })}
        />
        <NumberField
          label="Most minutes"
          least={1}
          value={limits.maxMinutes}
          onChange={(maxMinutes) => change({ limits: { ...limits, maxMinutes } })}
        />
        <NumberField
          label="Most tokens"
          least={1}
          value={limits.maxTotalTokens}
          onChange={(maxTotalTokens) => change({ limits: { ...limits, maxTotalTokens } })}
        />
      </div>
      {!isScripted && <RequestFields request={draft.request} onChange={(part) => change({ request: { ...draft.request, ...part } })} />}
      <fieldset class="choice" disabled={isScripted}>
        <legend class="field-label">Compaction</legend>
        <Check
          label="Summarize older turns when the context fills up"
          isOn={compaction.isOn}
          onChange={(isOn) => change({ compaction: { ...compaction, isOn } })}
        />
        <div class="field-row three">
          <NumberField
            label="Tokens of a prompt"
            hint="0: what the model has"
            value={compaction.maxContextTokens}
            onChange={(maxContextTokens) => change({ compaction: { ...compaction, maxContextTokens } })}
          />
          <NumberField
            label="From, percent"
            least={10}
            most={100}
            value={compaction.compactAt}
            onChange={(compactAt) => change({ compaction: { ...compaction, compactAt } })}
          />
          <NumberField
            label="Recent turns kept"
            value={compaction.keepRecentTurns}
            onChange={(keepRecentTurns) => change({ compaction: { ...compaction, keepRecentTurns } })}
          />
        </div>
      </fieldset>
    </>
  )
}
