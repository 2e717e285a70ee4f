import type { Model } from 'phi-core'
import { type Script, scripted } from 'phi-core/testing'

const team: Record<string, Script> = {
  coordinator: [
    {
      text: 'I look up how notes are written, and what changed.',
      toolCalls: [
        { name: 'read_file', arguments: { path: 'skills/release-notes/SKILL.md' } },
        { name: 'changes__read_text_file', arguments: { path: 'changes.md' } },
        { name: 'researcher', arguments: { task: 'What does files/changes.md say?' } },
      ],
    },
    { toolCalls: [{ name: 'writer', arguments: { task: 'Agents can be described in a file.' } }] },
    { text: 'Release notes: describe an agent in a file, and run it anywhere.' },
  ],
  researcher: [
    { toolCalls: [{ name: 'read_file', arguments: { path: 'files/changes.md' } }] },
    { text: 'It says that agents can be described in a file.' },
  ],
  writer: [{ text: 'Describe an agent in a file, and run it anywhere.' }],
}

/** A scripted model that plays each member of the team, chosen by the system prompt. */
export function scriptedTeam(): Model {
  const turns = new Map<string, number>()
  return scripted(({ systemPrompt }) => {
    const member = systemPrompt.startsWith('Read') ? 'researcher' : systemPrompt.startsWith('Write') ? 'writer' : 'coordinator'
    const turn = turns.get(member) ?? 0
    turns.set(member, turn + 1)
    const script = team[member]
    return (typeof script === 'function' ? undefined : script?.[turn]) ?? { text: 'Nothing more.' }
  })
}
