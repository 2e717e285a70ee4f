import { describe } from 'vitest'
import { openaiCompatible } from '../../../src/providers/openai.ts'
import { runs } from '../../support/runs.ts'
import { answering } from '../bytes.ts'
import { decodeLaws } from '../decode-laws.ts'
import { outcomeOf } from '../model-call.ts'
import { answerOf, fixtureNames, requestFor } from './call.ts'

describe('Chat Completions decoding of fragments', () => {
  decodeLaws({
    names: fixtureNames,
    bytesOf: answerOf,
    replay: (pieces) => {
      const model = openaiCompatible('m', { baseUrl: 'http://127.0.0.1:9', fetch: answering(pieces) })
      return outcomeOf(model.provider, requestFor(model))
    },
    fragmentations: runs(100, 10_000),
  })
})
