import { ConfigError } from '../../contract/errors.ts'
import { type ApiKey, type CredentialProvider, staticCredential } from '../../types/model/model.ts'
import { credentialsOf } from '../kit/create-model.ts'

/** What AWS gives an identity. */
export interface AwsCredentials {
  accessKeyId: string
  secretAccessKey: string
  /** Present for temporary credentials. */
  sessionToken?: string | undefined
}

/**
 * Where temporary credentials come from; the credential providers of the AWS SDK fit. It is asked before each call and may remember its
 * answer; `forceRefresh` is true after the service rejected that answer.
 */
export type AwsCredentialSource = (options?: { forceRefresh?: boolean }) => Promise<AwsCredentials>

/** The ways to say who calls Bedrock: one of them, or none where a proxy does it. */
export interface BedrockKeys {
  /** A Bedrock API key, sent as it is; or `accessKeyId:secretAccessKey[:sessionToken]`, to sign with. */
  apiKey?: ApiKey
  /** With `secretAccessKey`: long-lived or temporary credentials, to sign with. */
  accessKeyId?: string
  secretAccessKey?: string
  sessionToken?: string
  /** Credentials that expire, to sign with. */
  credentials?: AwsCredentialSource
}

/**
 * The key of a model as one text per call: a Bedrock API key, or AWS credentials with colons between them.
 * Throws `ConfigError` `invalidOption` for half a pair.
 */
export function bedrockCredentials(keys: BedrockKeys): CredentialProvider | undefined {
  const { accessKeyId, secretAccessKey, sessionToken, credentials } = keys
  if (credentials !== undefined) return refreshing(credentials)
  if (accessKeyId === undefined && secretAccessKey === undefined) return credentialsOf(keys.apiKey)
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new ConfigError('invalidOption', 'accessKeyId and secretAccessKey belong together, and one of them is missing. Give both.')
  }
  return staticCredential(joined({ accessKeyId, secretAccessKey, sessionToken }))
}

/** AWS credentials out of one text; `undefined` for a Bedrock API key, which holds no colon. A session token may hold some. */
export function awsCredentialsOf(credential: string): AwsCredentials | undefined {
  const [accessKeyId = '', secretAccessKey, ...token] = credential.trim().split(':')
  if (secretAccessKey === undefined || accessKeyId === '' || secretAccessKey === '') return undefined
  const sessionToken = token.join(':')
  return sessionToken === '' ? { accessKeyId, secretAccessKey } : { accessKeyId, secretAccessKey, sessionToken }
}

/** Everything in `credential` that must be in no message: as one text and in parts. */
export function secretsOf(credential: string): readonly string[] {
  const aws = awsCredentialsOf(credential)
  if (aws === undefined) return [credential]
  return [credential, aws.secretAccessKey, aws.sessionToken ?? '', aws.accessKeyId]
}

function refreshing(source: AwsCredentialSource): CredentialProvider {
  let isRejected = false
  return {
    current: async () => {
      const credentials = await (isRejected ? source({ forceRefresh: true }) : source())
      isRejected = false
      return joined(credentials)
    },
    invalidate: () => {
      isRejected = true
    },
  }
}

function joined({ accessKeyId, secretAccessKey, sessionToken }: AwsCredentials): string {
  return [accessKeyId, secretAccessKey, ...(sessionToken === undefined ? [] : [sessionToken])].join(':')
}
