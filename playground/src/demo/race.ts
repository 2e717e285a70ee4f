import type { Model } from '../../../src/index.ts'
import { type EvaluationStrategy, type LoopConfig, llmJudge } from '../../../src/loop.ts'
import type { ScriptedStep } from '../../../testing/index.ts'
import { demoModel } from './model.ts'
import { usageCounter } from './script.ts'

/** Four personalities and a judge, all of them scripted. */
const voices: Readonly<Record<string, ScriptedStep>> = {
  'demo-terse': { text: 'Cold week, little movement.', delayMs: 40 },
  'demo-exact': { text: 'From Monday to Wednesday it was between -17 °C and -6 °C, and open water came in sight.', delayMs: 18 },
  'demo-poet': {
    text: 'Three days of white silence, in which the ice held its breath, the sledge was mended, and a far dark line on Wednesday promised the sea.',
    delayMs: 14,
  },
  'demo-list': { text: '- Monday: -11 °C, two walruses\n- Tuesday: -17 °C, calm\n- Wednesday: -6 °C, open water, one walrus', delayMs: 22 },
  'demo-judge': { text: '2: it alone says how cold it was and what was seen.' },
}

/** Configurations that need no key. */
export const voiceIds: readonly string[] = Object.keys(voices).filter((id) => id !== 'demo-judge')

export function demoRace(): { configs: LoopConfig[]; strategy: EvaluationStrategy } {
  const configs = voiceIds.slice(0, 3).map((id) => ({ model: demoVoice(id), captureTurnRequests: true }))
  return { configs, strategy: llmJudge({ config: { model: demoVoice('demo-judge') } }) }
}

export function demoVoice(id: string): Model {
  const counted = usageCounter()
  const step = voices[id] ?? { text: 'I have nothing prepared.' }
  return demoModel((request) => ({ ...step, usage: counted(request, step) }), id, id)
}
