// The entry `./openapi`: named exports only, each with its contract in TSDoc.

export { fetchOpenApiTools, openApiTools, readOpenApiTools } from './openapi/open-api-tools.ts'
export {
  type FetchOpenApiOptions,
  type OpenApiCredential,
  OpenApiError,
  type OpenApiErrorCode,
  type OpenApiSecret,
  type OpenApiToolsOptions,
  type OperationApproval,
  type OperationFilter,
  type OperationInfo,
  type ReadOpenApiOptions,
} from './openapi/options.ts'
