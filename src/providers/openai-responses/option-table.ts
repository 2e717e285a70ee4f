import { type OptionTable, oneOf } from '../../base/check-options.ts'
import { transportTable } from '../shared/option-tables.ts'
import type { OpenAiResponsesProviderOptions } from './index.ts'

/** How the Responses API is called, at OpenAI and on Azure. */
export const responsesTable: OptionTable<OpenAiResponsesProviderOptions> = {
  ...transportTable,
  reasoningSummary: oneOf('auto', 'concise', 'detailed', 'none'),
}
