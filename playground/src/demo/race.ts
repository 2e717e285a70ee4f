import type { LoopConfig } from '../../../src/index.ts'
import { type EvaluationStrategy, llmJudge } from '../../../src/loop/parallel/index.ts'
import type { ScriptedStep } from '../../../src/providers/scripted/index.ts'
import { demoModel } from './agent.ts'
import { usageCounter } from './script.ts'

/** Three temperaments, and a judge. All of them are scripted. */
const answers: readonly { id: string; step: ScriptedStep }[] = [
  { id: 'demo-terse', step: { text: 'Cold week, little movement.', delayMs: 90, chunkSize: 3 } },
  {
    id: 'demo-exact',
    step: { text: 'From Monday to Wednesday it was between -17 °C and -6 °C, and open water came in sight.', delayMs: 50, chunkSize: 3 },
  },
  {
    id: 'demo-poet',
    step: {
      text: 'Three days of white silence, in which the ice held its breath, the sledge was mended, and a far dark line on Wednesday promised the sea.',
      delayMs: 35,
      chunkSize: 3,
    },
  },
]

export function demoRace(): { configs: LoopConfig[]; strategy: EvaluationStrategy } {
  const configs = answers.map(({ id, step }) => ({ model: modelOf(id, step), captureTurnRequests: true }))
  const judge = modelOf('demo-judge', { text: '2: it alone says how cold it was and what was seen.' })
  return { configs, strategy: llmJudge({ config: { model: judge } }) }
}

function modelOf(id: string, step: ScriptedStep) {
  const counted = usageCounter()
  return demoModel((request) => ({ ...step, usage: counted(request, step) }), id, id)
}
