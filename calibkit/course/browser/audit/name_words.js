// The words that the names of columns are looked up in, as in calibkit.auditing.names; MAYBE_LABEL,
// DECISION and EITHER_NAMES, BESIDE_NAMES and OTHER_WORDS only help to say what a file may hold.
const words = (text) => new Set(text.split(/\s+/).filter(Boolean));

export const LABEL_NAMES = words(`gold gold_label ground_truth groundtruth truth true_label true_class label_true true
  y_true y_test gt gt_label actual observed obs target targets label labels label_ids y
  outcome class`);
export const MAYBE_LABEL_NAMES = words(`y true actual class category outcome event y_test observed obs expected reference`);
export const CORRECT_NAMES = words(`correct is_correct iscorrect hit right is_right exact_match acc acc_norm
  quasi_exact_match`);
export const WRONG_NAMES = words(`wrong is_wrong incorrect is_incorrect error is_error mistake miss`);
export const DECISION_NAMES = words(`predicted prediction predictions pred preds y_pred y_hat yhat decision decisions
  pred_label predicted_label label_pred pred_class predicted_class argmax guess
  output_label y_predicted hard_label predict prediction_label prediction_class
  model_answer model_prediction`);
export const CONFIDENCE_NAMES = words(`confidence conf max_prob maxprob max_probability max_softmax msp confidence_score
  answer_confidence verbalized_confidence verbalised_confidence prediction_score
  prediction_probability prediction_confidence pred_score predicted_score predicted_prob
  predicted_probability pred_prob pred_conf top_prob top1_prob top1_score`);
// names that decisions and scores share: only what such a column holds can tell
export const EITHER_NAMES = words("y_pred pred preds prediction predictions predicted y_hat yhat");
export const SCORE_NAMES = words(`p prob probs proba probability probabilities score scores softmax sigmoid y_prob y_proba
  y_score y_probs p_hat phat pd risk logit logits pred_proba predict_proba
  decision_function logprob log_prob logprobs prob_pct percent pct output outputs y_logit
  y_pred pred preds prediction predictions predicted y_hat yhat`);
// what tables hold beside the scores
export const BESIDE_NAMES = words(`index id doc_id question_id unnamed_0 split fold entropy margin loss nll weight weights
  sample_weight threshold cutoff age uncertainty variance std temperature epoch step time
  timestamp date rank brier lr seed latency duration length count n row row_id sample_id
  bias p_value pvalue p_val perplexity distance year amount income`);
// words of a name that say of a score what else it is
export const OTHER_WORDS = words(`percentile quantile decile rank bin bucket std sd se var lower upper low high lo hi ci
  min diff delta ratio change error entropy threshold cutoff weight loss gap margin value
  scale bias temperature norm sum mean max total count median`);
export const STATED_KINDS = {
  percent: words("percent pct percentage %"),
  logprobs: words("logprob"),
  logits: words("logit logits"),
  probs: words(`p prob probs proba probability probabilities softmax sigmoid phat pd confidence conf
    msp maxprob`),
};
export const PART_WORDS = words(`cats class conf confidence confidences label log logit logits logprob logprobs out
  output p pct percent pred predicted prediction predictions preds prob proba
  probabilities probability probs score scored scores sigmoid softmax y`);
export const POSITIVE_WORDS = ["1", "yes", "true", "positive", "pos", "y", "t", "+1", "+"];
export const NEGATIVE_WORDS = ["0", "no", "false", "negative", "neg", "n", "f", "-1", "-"];
