import reactHooks from 'eslint-plugin-react-hooks'
import tseslint from 'typescript-eslint'

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'src/api/schema.ts', 'test-results/'] },
  ...tseslint.configs.recommended,
  reactHooks.configs.flat['recommended-latest'],
  {
    files: ['src/**/*.{ts,tsx}'],
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      'max-lines': ['error', 250],
      'max-lines-per-function': ['error', { max: 120, skipBlankLines: true, skipComments: true }],
      'no-console': 'error',
      // All texts are in src/i18n/en.json.
      'no-restricted-syntax': ['error',
        { selector: 'JSXText[value=/[A-Za-z]{2}/]', message: 'Put the text into src/i18n/en.json.' },
        {
          selector: 'JSXAttribute[name.name=/^(aria-label|title|label|placeholder|alt)$/] > Literal[value=/[A-Za-z]{2}/]',
          message: 'Put the text into src/i18n/en.json.',
        },
        { selector: 'JSXAttribute[name.name="dangerouslySetInnerHTML"]', message: 'Text of a cluster is not HTML.' },
      ],
    },
  },
)
