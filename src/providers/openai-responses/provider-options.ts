import { settingFields } from '../../contract/model/request-settings.ts'
import type { OptionTable } from '../../contract/shape/shape.ts'
import { type TransportOptions, transportTable } from '../kit/provider-options.ts'
import { aServerToolList, type ServerTools } from '../kit/server-tools.ts'
import type { ReasoningSummary } from './encode-request.ts'

/** How the Responses API is called, at OpenAI and on Azure. */
export interface OpenAiResponsesProviderOptions extends TransportOptions {
  /** How much of its reasoning a model that thinks should tell. Default `auto`; `none` for organisations that may not ask. */
  reasoningSummary?: ReasoningSummary
  /** Tools that the service runs: those of `openaiTools`, or declarations of the service. */
  serverTools?: ServerTools
}

/** What it is checked with. */
export const responsesTable: OptionTable<OpenAiResponsesProviderOptions> = {
  ...transportTable,
  reasoningSummary: settingFields.thinkingSummary,
  serverTools: aServerToolList,
}
