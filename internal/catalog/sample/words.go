package sample

import "slices"

// The words of which names, tags, tools and texts are made. They are many
// enough for a hundred thousand names, and close enough for many near-twins.
var (
	products = split(`stripe jira confluence github gitlab bitbucket slack mattermost teams zoom notion airtable asana trello
		linear salesforce hubspot zendesk intercom freshdesk servicenow pagerduty opsgenie grafana prometheus loki tempo datadog
		newrelic sentry splunk elastic kibana opensearch postgres mysql mariadb sqlite oracle snowflake bigquery redshift
		databricks clickhouse duckdb mongodb redis cassandra kafka rabbitmq nats temporal airflow dagster prefect dbt looker
		metabase superset tableau powerbi amplitude mixpanel segment posthog shopify woocommerce magento paypal adyen square
		klarna xero quickbooks netsuite sap workday bamboohr personio greenhouse lever docusign dropbox box drive sharepoint
		onedrive gmail outlook calendar sendgrid mailchimp twilio vonage cloudflare fastly vercel netlify heroku terraform
		pulumi ansible kubernetes docker harbor jenkins circleci buildkite argocd vault consul okta auth0 keycloak figma miro
		canva wordpress contentful sanity algolia typesense pinecone weaviate qdrant openai anthropic mistral huggingface`)
	objects = split(`invoice payment refund order shipment customer contact account lead ticket incident alert dashboard report
		metric trace query table schema migration backup snapshot release deployment pipeline branch commit review comment issue
		sprint milestone roadmap meeting transcript calendar reminder email newsletter campaign audience segment survey feedback
		contract proposal quote budget expense payroll timesheet vacation candidate interview onboarding policy permission secret
		certificate domain endpoint webhook event message channel thread document page template image diagram presentation
		spreadsheet dataset notebook model prompt embedding translation glossary changelog runbook postmortem checklist inventory
		supplier warehouse catalogue price discount subscription license asset vulnerability dependency container cluster`)
	actions = split(`search list create update delete archive restore export import sync merge split compare validate approve
		reject assign escalate summarise translate classify extract enrich deduplicate reconcile forecast schedule cancel
		publish review lint format convert render annotate tag route notify monitor diagnose triage audit rotate migrate
		generate parse clean`)
	qualifiers = split(`finance legal sales marketing support engineering operations security research design logistics
		procurement healthcare education retail hospitality insurance banking energy telecom automotive public nonprofit gaming
		media travel property manufacturing agriculture pharma`)
	tags = split(`finance legal sales marketing support engineering operations security research design logistics analytics
		automation billing crm data devops documents email hr infrastructure integration messaging monitoring observability
		productivity project-management reporting storage testing text translation vision voice web workflow writing code ci
		database search scheduling compliance privacy accounting commerce onboarding incident backup mobile api`)
	domains = split(`live-data code writing operations finance mail-flow research documents people planning`)
	verbs   = split(`reads writes checks collects compares prepares watches sorts sends gathers explains counts cleans joins`)
	nouns   = split(`records entries changes figures people teams deadlines sources results limits errors owners totals rules
		drafts files steps links numbers answers reasons tasks regions currencies periods versions`)
	endings = split(`weekly daily nightly quickly quietly carefully automatically together separately twice first again later
		everywhere`)
)

// Words lists words that names of a store hold.
func Words() []string { return slices.Concat(products, objects, qualifiers) }
