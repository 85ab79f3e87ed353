// The words that the names of columns are looked up in, as in calibkit.auditing.names.
const words = (text) => new Set(text.split(/\s+/).filter(Boolean));

export const LABEL_NAMES = words(`label labels target targets y_true ground_truth groundtruth gt
  true_label true_class label_true gold gold_label truth`);
export const MAYBE_LABEL_NAMES = words(`y true actual class category outcome event y_test observed obs
  expected reference`);
export const CORRECT_NAMES = words(`correct is_correct iscorrect hit right is_right exact_match acc acc_norm
  quasi_exact_match`);
export const WRONG_NAMES = words("wrong is_wrong incorrect is_incorrect error is_error mistake miss");
export const DECISION_NAMES = words(`predicted prediction predictions pred preds y_pred y_hat yhat
  decision decisions pred_label predicted_label label_pred pred_class predicted_class argmax guess
  output_label y_predicted hard_label predict prediction_label prediction_class model_answer
  model_prediction`);
export const CONFIDENCE_NAMES = words(`confidence conf max_prob maxprob max_probability max_softmax msp
  top_prob top1_prob pred_prob predicted_prob confidence_score prediction_score pred_score
  predicted_score pred_conf prediction_probability prediction_prob prediction_confidence
  predicted_probability verbalized_confidence verbalised_confidence answer_confidence`);
// names that decisions and scores share: only what such a column holds can tell
export const EITHER_NAMES = words("y_pred pred preds prediction predictions predicted y_hat yhat");
export const SCORE_NAMES = words(`p prob probs proba probability probabilities score scores softmax
  sigmoid y_prob y_proba y_score y_probs p_hat phat pd logit logits pred_proba predict_proba output
  outputs prob_pct probability_pct prob_percent p_pct p_percent percent pct decision_function risk
  y_logit logprob log_prob logprobs positive_probability prob_pos`);
// what tables hold beside the scores
export const BESIDE_NAMES = words(`index id doc_id question_id unnamed_0 split fold entropy margin loss nll weight weights
  sample_weight threshold cutoff age uncertainty variance std temperature epoch step time timestamp
  date rank brier lr seed latency duration length count n row row_id sample_id bias p_value pvalue
  p_val perplexity distance year amount income`);
// words of a name that say of a score what else it is
export const OTHER_WORDS = words(`percentile quantile decile rank bin bucket std sd se var lower upper
  low high lo hi ci min diff delta ratio change error entropy threshold cutoff weight loss gap margin
  value scale bias temperature norm sum mean max total count median`);
export const STATED_KINDS = {
  percent: words("percent pct percentage %"),
  logprobs: words("logprob"),
  logits: words("logit logits"),
  probs: words(`p prob probs proba probability probabilities softmax sigmoid phat pd confidence conf
    msp maxprob`),
};
