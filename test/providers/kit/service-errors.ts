/** What services really said, from their documents and from public issue trackers: service, HTTP status (0 inside a stream), body. */
type Said = readonly [service: string, status: number, body: unknown]

const message = (text: string, more: object = {}) => ({ error: { message: text, ...more } })

/** The prompt does not fit. */
export const overflows: readonly Said[] = [
  [
    'Anthropic',
    400,
    { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long: 213462 tokens > 200000 maximum' } },
  ],
  [
    'Anthropic',
    400,
    message(
      'input length and `max_tokens` exceed context limit: 143653 + 64000 > 200000, decrease input length or `max_tokens` and try again',
    ),
  ],
  ['Anthropic', 413, message('Request exceeds the maximum size', { type: 'request_too_large' })],
  [
    'OpenAI',
    400,
    message("This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens.", {
      code: 'context_length_exceeded',
    }),
  ],
  [
    'OpenAI',
    0,
    {
      type: 'error',
      code: 'context_length_exceeded',
      message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
    },
  ],
  ['OpenAI', 400, message('Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 344378 tokens.')],
  [
    'Google',
    400,
    message('The input token count (1091639) exceeds the maximum number of tokens allowed (1048576).', { status: 'INVALID_ARGUMENT' }),
  ],
  ['Google', 400, message('Request payload size exceeds the limit: 20971520 bytes.', { status: 'INVALID_ARGUMENT' })],
  ['Vertex AI', 400, message('Unable to submit request because the input token count is 1500000 but model only supports up to 1048576.')],
  ['Bedrock', 400, { message: 'Input is too long for requested model.' }],
  [
    'Bedrock',
    400,
    { message: 'Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.' },
  ],
  ['Bedrock', 400, { message: 'The model returned the following errors: prompt is too long: 903884 tokens > 200000 maximum' }],
  ['Bedrock', 400, { message: 'The model returned the following errors: too many total text bytes: 29000000 > 25000000' }],
  ['Bedrock', 400, { message: 'Input exceeds the max input token limit' }],
  [
    'Bedrock, Mantle',
    400,
    {
      message:
        "Mantle streaming error for requestId 1: This model's maximum context length is 202752 tokens. However, you requested 65536 output tokens",
    },
  ],
  ['Ollama', 400, message('prompt too long; exceeded max context length by 812 tokens')],
  ['Ollama', 400, { error: 'prompt too long; exceeded context length by 4 tokens' }],
  ['Ollama', 500, { error: 'the input length exceeds the context length' }],
  ['Ollama', 400, { error: 'context length exceeded for llama3' }],
  [
    'llama.cpp',
    400,
    message('the request exceeds the available context size (4096 tokens), try increasing it', {
      type: 'exceed_context_size_error',
      n_ctx: 4096,
    }),
  ],
  ['llama.cpp', 500, message('Context size has been exceeded.')],
  ['llama.cpp', 500, message('input is larger than the context size')],
  [
    'LM Studio',
    0,
    {
      error:
        'The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length',
    },
  ],
  [
    'LM Studio',
    0,
    {
      error:
        'Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens',
    },
  ],
  ['LM Studio', 0, { error: { message: 'Reached context length of 4096 tokens with this model' } }],
  [
    'vLLM',
    400,
    message(
      "This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and your prompt contains at least 262145 input tokens. Please reduce the length of the input prompt or the number of requested output tokens.",
    ),
  ],
  [
    'vLLM',
    400,
    {
      object: 'error',
      message:
        'The decoder prompt (length 70000) is longer than the maximum model length of 65536. Make sure that `max_model_len` is no smaller.',
    },
  ],
  ['vLLM', 400, message('The prompt (total length 25938) is too long to fit into the model (context length 4096).')],
  [
    'vLLM',
    400,
    message("You passed 40961 input tokens and requested 0 output tokens. However, the model's context length is only 40960 tokens"),
  ],
  ['SGLang', 400, { object: 'error', message: "The input (151022 tokens) is longer than the model's context length (131072 tokens)." }],
  [
    'Text Generation Inference',
    422,
    {
      error: 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 32768. Given: 40000 `inputs` tokens',
      error_type: 'validation',
    },
  ],
  ['Text Generation Inference', 422, { error: 'Input validation error: `inputs` must have less than 4096 tokens. Given: 5093' }],
  ['Groq', 400, message('Please reduce the length of the messages or completion.', { code: 'context_length_exceeded' })],
  [
    'Groq',
    413,
    message(
      'Request too large for model `llama` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size and try again.',
      { code: 'rate_limit_exceeded' },
    ),
  ],
  [
    'Mistral',
    400,
    {
      object: 'error',
      message: 'Prompt contains 40213 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
      type: 'invalid_request_prompt',
    },
  ],
  [
    'xAI',
    400,
    {
      code: 'Client specified an invalid argument',
      error: "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    },
  ],
  ['Together', 422, message("The input (210000 tokens) is longer than the model's context length (131072 tokens).")],
  ['Fireworks', 400, message('The prompt is too long: 150112, model maximum context length: 131071')],
  [
    'DeepSeek',
    400,
    message(
      "This model's maximum context length is 65536 tokens. However, you requested 71000 tokens (67000 in the messages, 4000 in the completion). Please reduce the length of the messages or completion.",
    ),
  ],
  ['OpenRouter', 400, message("This endpoint's maximum context length is 131072 tokens. However, you requested about 204817 tokens")],
  [
    'OpenRouter',
    400,
    message('Provider returned error', {
      code: 400,
      metadata: {
        raw: '{"message":"input length and `max_tokens` exceed context limit: 149674 + 64000 > 204658"}',
        provider_name: 'Amazon Bedrock',
      },
    }),
  ],
  ['Poolside', 400, message('Input length 131393 exceeds the maximum allowed input length of 131040 tokens.')],
  [
    'Cerebras',
    400,
    {
      message: 'Please reduce the length of the messages or completion. Current length is 9012 while limit is 8192',
      code: 'context_length_exceeded',
    },
  ],
  ['Cohere', 400, { message: "too many tokens: total number of tokens in the prompt exceeds the model's max of 4096" }],
  [
    'Cloudflare',
    400,
    {
      errors: [
        {
          code: 5021,
          message: 'The estimated number of input and maximum output tokens (9000) exceeded this model context window limit (8192).',
        },
      ],
    },
  ],
  ['Perplexity', 400, message('The total length of all messages is too long.')],
  ['DashScope', 400, message('<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 983616]')],
  ['Moonshot', 400, message('Your request exceeded model token limit: 131072 (requested: 132001)')],
  ['MiniMax', 400, message('invalid params, context window exceeds limit (2013)')],
  ['z.ai', 400, message('Prompt exceeds max length', { code: '1261' })],
  ['Copilot', 400, message('prompt token count of 202345 exceeds the limit of 128000', { code: 'model_max_prompt_tokens_exceeded' })],
  ['DS4', 400, message('Prompt has 256468 tokens, but the configured context size is 256000 tokens')],
]

/** The key is wrong. */
export const rejectedKeys: readonly Said[] = [
  [
    'xAI',
    400,
    {
      code: 'Client specified an invalid argument',
      error: 'Incorrect API key provided: na***ys. You can obtain an API key from https://console.x.ai.',
    },
  ],
  ['xAI', 400, 'Incorrect API key provided: sk***YA. You can obtain an API key from https://console.x.ai.'],
  ['OpenAI', 401, message('Incorrect API key provided: sk-proj-****abcd.', { code: 'invalid_api_key' })],
  ['Google', 400, message('API key not valid. Please pass a valid API key.', { details: [{ reason: 'API_KEY_INVALID' }] })],
  ['Google', 400, message('API key expired. Please renew the API key.', { status: 'INVALID_ARGUMENT' })],
  [
    'Vertex AI',
    401,
    message('Request had invalid authentication credentials. Expected OAuth 2 access token', { status: 'UNAUTHENTICATED' }),
  ],
  [
    'Bedrock',
    400,
    { __type: 'com.amazon.coral.service#UnrecognizedClientException', message: 'The security token included in the request is invalid.' },
  ],
  ['Bedrock', 403, { message: 'The security token included in the request is expired' }],
  ['Bedrock', 400, { __type: 'IncompleteSignatureException', message: 'Authorization header requires existence of either a header' }],
  ['Bedrock', 400, { __type: 'RequestExpired', message: 'The request is no longer valid due to expired timestamps.' }],
  ['Anthropic', 401, message('invalid x-api-key', { type: 'authentication_error' })],
  ['OpenRouter', 401, message('No auth credentials found', { code: 401 })],
  ['a gateway, inside a stream', 0, message('Invalid API key')],
  ['a gateway, inside a stream', 0, message('Provider returned error', { metadata: { raw: 'Incorrect API key provided' } })],
  ['a server of events', 400, 'event: error\ndata: {"error":{"message":"Invalid API key"}}\n\n'],
]

/** Another try may succeed. */
export const transient: readonly Said[] = [
  ['Bedrock', 0, message('An internal failure', { type: 'InternalFailure' })],
  ['Bedrock', 500, { __type: 'InternalFailure' }],
  ['Bedrock', 0, message('The system encountered an unexpected error', { type: 'internalServerException' })],
  ['Bedrock', 400, { message: 'Too many tokens, please wait before trying again.' }],
  ['Anthropic', 0, message('Overloaded', { type: 'overloaded_error' })],
  ['Moonshot', 0, message('The engine is currently overloaded, please try again later', { type: 'engine_overloaded_error' })],
  ['OpenAI', 0, message('Our servers are currently overloaded. Please try again later.', { code: 'server_is_overloaded' })],
  ['Google', 503, message('The model is overloaded. Please try again later.', { status: 'UNAVAILABLE' })],
  ['Groq', 429, message('Rate limit reached for model `x` on tokens per minute (TPM): Limit 6000', { code: 'rate_limit_exceeded' })],
  ['OpenRouter', 0, message('Provider returned error', { code: 502, metadata: { raw: 'upstream hung up' } })],
]

/** Neither: another request would be refused as well, and a shorter one too. */
export const others: readonly Said[] = [
  ['Bedrock', 400, { message: 'The maximum tokens you requested exceeds the model limit of 4096. Try again with a lower value.' }],
  ['OpenAI', 400, message("Invalid 'max_output_tokens': 99999 exceeds the maximum of 32768")],
  ['some service', 400, message('temperature 3 exceeds the maximum value 2')],
  ['Anthropic', 400, message('max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens')],
  ['Google', 400, message('Invalid value at tools[0]')],
  ['OpenAI', 404, message('The model `gpt-9` does not exist', { code: 'model_not_found' })],
]
