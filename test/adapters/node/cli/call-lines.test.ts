import { expect, it } from 'vitest'
import { callLines } from '../../../../adapters/node/cli/render/call-lines.ts'
import { painterFor } from '../../../../adapters/node/cli/terminal/paint.ts'

it('shows an unknown outcome for an interrupted call instead of a failure', () => {
  const result = { content: [{ type: 'text' as const, text: 'Check before you repeat it.' }] }
  const call = { toolName: 'pay', subject: '12 euros', ms: 7, isError: true, result }
  const shown = callLines({ ...call, outcome: 'unknown' }, painterFor(process.stderr), 80).join('\n')
  expect(shown).toContain('outcome unknown')
  expect(shown).not.toContain('✗')
  expect(callLines(call, painterFor(process.stderr), 80).join('\n')).toContain('✗')
})
